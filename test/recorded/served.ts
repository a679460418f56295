import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export type Recorded = {
  readonly source: string
  readonly about: string
  /** Body of the response, unchanged. */
  readonly body: Record<string, unknown>
}

/** Reads a recorded body: `payments/payout-v2-get` is `payments/payout-v2-get.json`. */
export const recorded = (name: string): Recorded =>
  JSON.parse(readFileSync(join(import.meta.dir, `${name}.json`), 'utf8')) as Recorded

type Reply = { readonly status: number; readonly body: unknown }

/** Opens a proxy to the sandbox, which returns a recorded body where one is set. */
export function openServed(onward: () => string) {
  const replies = new Map<string, Reply>()
  const asked: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    fetch: async (call) => {
      const { pathname, search } = new URL(call.url)
      const line = `${call.method} ${pathname}`
      asked.push(line + search)
      const reply = replies.get(line + search) ?? replies.get(line)
      if (reply) return Response.json(reply.body, { status: reply.status })
      if (onward() === '') return new Response(null, { status: 503 })
      const body = call.method === 'GET' ? {} : { body: await call.text() }
      const { method, headers } = call
      // The sandbox may stop before the services.
      const gone = () => new Response(null, { status: 502 })
      return fetch(onward() + pathname + search, { method, headers, ...body }).catch(gone)
    },
  })
  return {
    url: server.url.origin,
    asked,
    /** Sets the response to a line such as `GET /v3/payments/py-…`. */
    serve: (line: string, body: unknown, status = 200) => void replies.set(line, { status, body }),
    forget: (line: string) => void replies.delete(line),
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}
