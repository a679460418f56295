import type { App } from './app'
import { isBodyOver } from './http/body'

/** Bun would answer a body above this on its own, without our `{ error }`; ours is 64 KiB. */
const serverBodyBytesMax = 1024 * 1024
/**
 * A connection that says nothing for so long is closed. Longer than proxies and load balancers keep
 * theirs (60 s by default for most): whoever closes first must be the one who sends next, or a
 * request meets a closing connection and is answered by a reset.
 */
const idleSeconds = 75

/**
 * Serves the app on a port; disposing lets open requests finish. Once it is `leaving`, each answer
 * ends its connection: on one that is kept open the next request might meet the end of the process.
 * So does the answer to a request whose body is not over: the rest of it, which may have no end, would
 * be taken in until the connection has been idle for too long.
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
