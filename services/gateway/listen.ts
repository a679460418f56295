import type { App } from './app'
import { isBodyOver } from './http/body'

/**
 * Maximum body size in the server. Bun refuses larger bodies itself, without our `{ error }`; our own limit
 * is 64 KiB.
 */
const serverBodyBytesMax = 1024 * 1024
/** Idle timeout, longer than that of proxies and load balancers (60 s for most), so that they close first. */
const idleSeconds = 75
/** Time after which a closing connection ends if its client takes nothing of the response. */
const untakenSeconds = 10

/**
 * Serves an app until it is disposed, which lets open requests finish. A response closes its connection while
 * draining (`leaving`), after an unread body, whose rest may never end, and if it is large.
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
      if (options.leaving?.aborted || !(await isBodyOver(request))) answer.headers.set('connection', 'close')
      // Bun's timeout of a request replaces that of the connection, also after the response.
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
