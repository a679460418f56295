import type { Stack } from '#infra/local/stack'
import { ownStack, sharedStackOptions } from '../support/stack'

/** Serves a stack that boots at its first request and ends with the run. Suites find `url` in `SHARED_STACK_URL`. */
export function serveSharedStack(): AsyncDisposable & { readonly url: string } {
  let booting: Promise<Stack> | undefined
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 255,
    fetch: async () => {
      booting ??= ownStack(sharedStackOptions)
      try {
        const { info, dir, adminUrl } = await booting
        return Response.json({ info, dir, adminUrl })
      } catch (error) {
        booting = undefined // The next suite tries again.
        return new Response(String(error), { status: 500 })
      }
    },
  })
  return {
    url: server.url.href,
    [Symbol.asyncDispose]: async () => {
      await server.stop(true)
      const stack = await booting?.catch(() => undefined)
      await stack?.[Symbol.asyncDispose]()
    },
  }
}
