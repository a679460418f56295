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
 * Content security policy of the page: it loads only our own files, runs no inline code, and creates no
 * markup from text, because the messages it shows contain text from outside.
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

/** Caches the icon, which browsers request on every address change, even while the page is paused. */
const kept = { 'cache-control': 'private, max-age=3600' }

/** Default headers of every response of this listener. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
}

/** Served only in a stack with a sandbox, so elsewhere its buttons do not exist, not even hidden. */
const ofSandbox = 'sandbox.js'

/** Returns the page's files by path; no other file of the folder is served. */
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
