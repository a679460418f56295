/** Who may read an answer from a page: the app's own pages; the public record, everybody. */
export type Cors = {
  readonly headersFor: (path: string, origin: string | null) => Record<string, string>
}

const exposed = 'X-Request-Id, X-Error-Code, Retry-After, ETag'

/** Exact origins only: no patterns, no credentials. */
export function corsOf(origins: readonly string[]): Cors {
  const allowed = new Set(origins)
  return {
    headersFor(path, origin): Record<string, string> {
      if (path.startsWith('/webhooks/')) return {}
      if (path.startsWith('/verify/'))
        return { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': exposed }
      if (origin === null || !allowed.has(origin)) return { Vary: 'Origin' }
      return {
        'Access-Control-Allow-Origin': origin,
        'Access-Control-Expose-Headers': exposed,
        Vary: 'Origin',
      }
    },
  }
}

/** A browser asking before it sends the request itself. */
export const isPreflight = (request: Request) =>
  request.method === 'OPTIONS' && request.headers.has('access-control-request-method')

/** What an allowed origin is told before it sends the request itself. */
export const preflightHeaders = {
  'Access-Control-Allow-Methods': 'GET, POST',
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, If-None-Match, X-Request-Id',
  'Access-Control-Max-Age': '600',
}
