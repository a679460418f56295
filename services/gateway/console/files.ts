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
 * The page may load what is served here and nothing else, run nothing inline, and make no element of
 * a text. What it shows comes from messages, in which others may have written.
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

/** A browser asks for the icon at each change of the address, also while the page is paused. */
const kept = { 'cache-control': 'private, max-age=3600' }

/** In every answer of the listener, unless it says otherwise. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
}

/** Only a stack with a sandbox has it: without one there is no button, not a hidden one either. */
const ofSandbox = 'sandbox.js'

/** The files of the page by their path; nothing else of the folder can be asked for. */
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
