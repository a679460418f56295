import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export type Recorded = {
  readonly source: string
  readonly about: string
  /** Unchanged. */
  readonly body: Record<string, unknown>
}

/** `payments/payout-v2` is `payments/payout-v2.json`. */
export const recorded = (name: string): Recorded =>
  JSON.parse(readFileSync(join(import.meta.dir, `${name}.json`), 'utf8')) as Recorded

type Reply = { readonly status: number; readonly body: unknown }

/** Proxies to the sandbox unless a recorded body is set. */
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
    /** A line is such as `GET /v3/payments/py-…`. */
    serve: (line: string, body: unknown, status = 200) => void replies.set(line, { status, body }),
    forget: (line: string) => void replies.delete(line),
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}
