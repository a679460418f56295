type Call = { id: unknown; method: string }
type Answer = { id: unknown; result?: unknown }
type Log = { data: string; blockNumber: string }

/** The last word of its data. */
export const sequenceIn = ({ data }: Log): number => Number(`0x${data.slice(-64)}`)

/** Leaves out of `eth_getLogs` the logs for which `omits` returns true. */
export function openLogFilter(target: string): AsyncDisposable & {
  readonly url: string
  omits: (log: Log) => boolean
} {
  const filter = { omits: (_: Log) => false }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      const body = await request.text()
      const headers = { 'content-type': 'application/json' }
      const answered = await fetch(target, { method: 'POST', headers, body })
      const answers = (await answered.json()) as Answer | Answer[]
      const calls = [JSON.parse(body)].flat() as Call[]
      for (const answer of [answers].flat()) {
        const call = calls.find(({ id }) => id === answer.id)
        if (call?.method !== 'eth_getLogs' || !answer.result) continue
        answer.result = (answer.result as Log[]).filter((log) => !filter.omits(log))
      }
      return Response.json(answers)
    },
  })
  return Object.assign(filter, {
    url: `http://127.0.0.1:${server.port}`,
    [Symbol.asyncDispose]: () => server.stop(true),
  })
}
