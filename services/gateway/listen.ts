import type { App } from './app'
import { isBodyOver } from './http/body'

/** Above this size Bun refuses a body itself, without our `{ error }`; our own limit is 64 KiB. */
const serverBodyBytesMax = 1024 * 1024
/**
 * Idle timeout of a connection. Longer than that of proxies and load balancers (60 s for most), so that
 * they close first; otherwise a request could hit a closing connection and be reset.
 */
const idleSeconds = 75
/** Maximum time in which the client of a closing connection takes nothing of its response. */
const untakenSeconds = 10

/**
 * Serves the app on a port; disposing lets open requests finish. While draining (`leaving`), every
 * response closes its connection so that the next request does not hit a closing socket. A response to a
 * request with an unread body closes it too, because the rest of the body may never end; and so does a large
 * response, because a connection that has taken nothing for 10 s is closed.
 */
export function listen(
  app: App,
  options: { host: string; port: number; leaving?: AbortSignal },
): AsyncDisposable & { readonly port: number } {
  const server = Bun.serve({
    hostname: options.host,
    port: options.port,
    idleTimeout: idleSeconds,
    maxRequestBodySize: serverBodyBytesMax,
    fetch: async (request, self) => {
      const answer = await app(request, self.requestIP(request)?.address ?? 'unknown')
      if (options.leaving?.aborted || !(await isBodyOver(request)))
        answer.headers.set('connection', 'close')
      // For a request, Bun's timeout replaces that of the connection, also after the response.
      if (answer.headers.get('connection') === 'close') self.timeout(request, untakenSeconds)
      return answer
    },
    error: () => Response.json({ error: 'something went wrong' }, { status: 500 }),
  })
  return {
    port: server.port ?? options.port,
    [Symbol.asyncDispose]: async () => {
      await Promise.race([server.stop(), Bun.sleep(2_000)])
      await server.stop(true)
    },
  }
}
