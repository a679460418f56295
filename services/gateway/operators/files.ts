import { readdirSync } from 'node:fs'
import { extname, join } from 'node:path'

const folder = join(import.meta.dir, 'page')

const types = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
])

/**
 * Content-Security-Policy of the page. The page shows text from outside, so it runs no inline code and
 * creates no markup from text.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

/** Cache of the icon, which browsers request on every address change, even while the page is paused. */
const kept = { 'cache-control': 'private, max-age=3600' }

export const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
}

/** Script of the sandbox view, whose buttons exist only in a stack with a sandbox. */
const ofSandbox = 'sandbox.js'

/** Returns the files of the page. No other file of the folder is served. */
export function pageFiles(hasSandbox: boolean): ReadonlyMap<string, () => Response> {
  const names = readdirSync(folder).filter((name) => hasSandbox || name !== ofSandbox)
  return new Map(
    names.map((name) => [
      name === 'index.html' ? '/' : `/console/${name}`,
      () => {
        const type = types.get(extname(name)) ?? 'application/octet-stream'
        const headers = { 'content-type': type, ...(name.endsWith('.svg') ? kept : {}) }
        return new Response(Bun.file(join(folder, name)), { headers })
      },
    ]),
  )
}
