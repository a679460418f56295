import { pause } from '#platform/deadline'

/** A balancer that forwards to each gateway in turn. */
export type Balancer = AsyncDisposable & {
  readonly url: string
  /** Sets the gateways; every request fails until this is done. */
  readonly spread: (gateways: readonly string[]) => void
}

const deadlineMs = 15_000
const probeEveryMs = 200
const probeDeadlineMs = 1_000
/** Errors of a request that was not sent. */
const refused = new Set(['ECONNREFUSED', 'ConnectionRefused'])

/**
 * Opens a balancer. It skips gateways that are not ready or refuse the connection, and never resends a request that a
 * gateway may have received: the client gets a 502.
 */
export function openBalancer(): Balancer {
  const stop = new AbortController()
  let copies: readonly string[] = []
  let ready: readonly string[] = []
  let turn = 0
  const probe = async () => {
    const asked = await Promise.all(copies.map(isReady))
    ready = copies.filter((_, index) => asked[index])
  }
  const probing = async () => {
    while (!stop.signal.aborted) {
      await probe()
      await pause(probeEveryMs, stop.signal)
    }
  }
  void probing()

  const pass = async (request: Request, body: ArrayBuffer | undefined): Promise<Response> => {
    const among = ready.length > 0 ? ready : copies
    const first = turn++
    let failure: unknown = 'none is configured'
    for (let tries = 0; tries < among.length; tries++) {
      try {
        return await forward(`${among[(first + tries) % among.length]}`, request, body)
      } catch (error) {
        failure = error
        if (!refused.has((error as { code?: string }).code ?? '')) break
      }
    }
    return Response.json({ error: `no gateway responded: ${failure}` }, { status: 502 })
  }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 30,
    fetch: async (request) => pass(request, request.body === null ? undefined : await request.arrayBuffer()),
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    spread: (gateways) => {
      copies = gateways
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await server.stop(true)
    },
  }
}

const isReady = (copy: string): Promise<boolean> =>
  fetch(`${copy}/ready`, { signal: AbortSignal.timeout(probeDeadlineMs) }).then(
    (answer) => answer.ok,
    () => false,
  )

async function forward(copy: string, request: Request, body: ArrayBuffer | undefined) {
  const { pathname, search } = new URL(request.url)
  const headers = new Headers(request.headers)
  headers.delete('host')
  const answer = await fetch(`${copy}${pathname}${search}`, {
    method: request.method,
    headers,
    ...(body === undefined ? {} : { body }),
    signal: AbortSignal.timeout(deadlineMs),
  })
  return new Response(await answer.arrayBuffer(), answer)
}
