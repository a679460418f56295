import { requestId, requestIdHeader } from '#platform/request-id'
import type { Config } from '../config'
import { callerOf } from './caller'

/** Headers; names are in lower case, as Elysia merges them. */
type HeaderValues = Record<string, string>

/**
 * Returns the headers of every response. @elysiajs/cors (1.4.2) does not fit: it has one origin list for all
 * paths, which would close the public record, and adds headers to webhooks and for disallowed origins.
 */
export function answerHeaders(config: Config) {
  const security = securityHeaders(config.publicUrl.startsWith('https:'))
  const corsHeaders = corsOf(config.corsOrigins)
  return (request: Request): HeaderValues => ({
    ...security,
    ...corsHeaders(callerOf(request).path, request.headers.get('origin')),
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

const exposed = 'Date, X-Request-Id, X-Error-Code, Retry-After, RateLimit, RateLimit-Policy, ETag, Content-Disposition'

/** Returns the CORS headers, which never allow credentials. */
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

export const isPreflight = (request: Request) =>
  request.method === 'OPTIONS' && request.headers.has('access-control-request-method')

export const preflightHeaders: HeaderValues = {
  'access-control-allow-methods': 'GET, POST',
  'access-control-allow-headers':
    'Accept-Language, Accepted-Terms, Authorization, Content-Type, If-None-Match, Last-Event-ID, X-Request-Id',
  'access-control-max-age': '600',
}
