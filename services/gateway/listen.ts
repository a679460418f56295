import type { App } from './app'
import { isBodyOver } from './http/body'

/** Bun refuses larger bodies itself, without our `{ error }`; our own limit is 64 KiB. */
const serverBodyBytesMax = 1024 * 1024
/** Longer than that of proxies and load balancers (60 s for most), so that they close first. */
const idleSeconds = 75
/** In which the client of a closing connection takes nothing of its response. */
const untakenSeconds = 10

/**
 * Disposing lets open requests finish. A response closes its connection while draining (`leaving`), after
 * an unread body, whose rest may never end, and if it is large.
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
