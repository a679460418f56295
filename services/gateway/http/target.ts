/** Authority of the URLs that our routers see: none that a caller can choose. */
const ownOrigin = 'http://gateway.internal'

/** A host as in RFC 9112 section 3.2, without the forms that neither browsers nor proxies send. */
const hostPattern = /^(?:[A-Za-z0-9_.-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/

/**
 * Replaces the request's URL by one with our own authority and returns its path; returns undefined if the
 * Host header names no host. HTTP/1.0 may omit it, as health checks do; Bun refuses HTTP/1.1 without it.
 *
 * Bun's URL has only the path if the authority is absent or malformed, so later parsers would fail. Elysia
 * (1.4.30) searches the path from the eleventh character, so it would misread a host of up to three
 * (elysiajs/elysia#748).
 */
export function readTarget(request: Request): string | undefined {
  const host = request.headers.get('host')
  if (host !== null && !hostPattern.test(host)) return undefined
  const { url } = request
  const whole = url.startsWith('/') ? `${ownOrigin}${url}` : url
  if (!URL.canParse(whole)) return undefined
  const { pathname, search } = new URL(whole)
  Object.defineProperty(request, 'url', { value: `${ownOrigin}${pathname}${search}` })
  return pathname
}
