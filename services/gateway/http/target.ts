/** Authority of every URL inside the gateway, which no caller can choose. */
const ownOrigin = 'http://gateway.internal'

/** Host of RFC 9112 section 3.2, without the forms that neither browsers nor proxies send. */
const hostPattern = /^(?:[A-Za-z0-9_.-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/

/**
 * Gives the URL our own authority, because Elysia (1.4.30) misreads hosts of up to three characters
 * (elysiajs/elysia#748). Returns the path, or undefined if the Host header names no host. HTTP/1.0 may omit
 * Host, as health checks do; Bun's URL is then only a path.
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
