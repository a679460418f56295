import { requestId, requestIdHeader } from '#shared/request-id'
import type { Config } from '../config'

/** Names are in lower case, as Elysia merges them. */
type HeaderValues = Record<string, string>

/**
 * The headers of every answer, unless the route chose its own: request id, security, and CORS. Not
 * @elysiajs/cors (1.4.2): it has one list of origins for all paths, so that the record would not be
 * open to everybody, and it adds its headers for webhooks and for origins that are not allowed too.
 */
export function answerHeaders(config: Config) {
  const security = securityHeaders(config.publicUrl.startsWith('https:'))
  const corsHeaders = corsOf(config.corsOrigins)
  return (request: Request): HeaderValues => ({
    ...security,
    ...corsHeaders(new URL(request.url).pathname, request.headers.get('origin')),
    [requestIdHeader.toLowerCase()]: requestId() ?? '',
  })
}

const securityHeaders = (overTls: boolean): HeaderValues => ({
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'cross-origin',
  'cache-control': 'no-store',
  ...(overTls ? { 'strict-transport-security': 'max-age=31536000' } : {}),
})

const exposed = 'X-Request-Id, X-Error-Code, Retry-After, ETag'

/**
 * Who may read an answer from a page: the app's own pages, by exact origins and without credentials;
 * the public record, everybody; what webhooks are answered, nobody.
 */
export function corsOf(origins: readonly string[]) {
  const allowed = new Set(origins)
  return (path: string, origin: string | null): HeaderValues => {
    if (path.startsWith('/webhooks/')) return {}
    if (path.startsWith('/verify/'))
      return { 'access-control-allow-origin': '*', 'access-control-expose-headers': exposed }
    if (origin === null || !allowed.has(origin)) return { vary: 'Origin' }
    return {
      'access-control-allow-origin': origin,
      'access-control-expose-headers': exposed,
      vary: 'Origin',
    }
  }
}

/** A browser asking before it sends the request itself. */
export const isPreflight = (request: Request) =>
  request.method === 'OPTIONS' && request.headers.has('access-control-request-method')

/** What an allowed origin is told before it sends the request itself. */
export const preflightHeaders: HeaderValues = {
  'access-control-allow-methods': 'GET, POST',
  'access-control-allow-headers': 'Authorization, Content-Type, If-None-Match, X-Request-Id',
  'access-control-max-age': '600',
}
