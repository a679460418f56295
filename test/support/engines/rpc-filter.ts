export type RpcCall = { readonly method: string; readonly params: readonly unknown[] }
export type ChangeResult = (call: RpcCall, result: unknown) => unknown

type Call = RpcCall & { readonly id: unknown }
type Answer = { readonly id: unknown; result?: unknown }

/** Opens a proxy that passes calls on to a node and changes its results. */
export function openRpcFilter(target: string, change: ChangeResult): AsyncDisposable & { readonly url: string } {
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
        if (call && 'result' in answer) answer.result = change(call, answer.result)
      }
      return Response.json(answers)
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

type Log = { data: string; blockNumber: string }

/** Returns the sequence in a log, the last word of its data. */
export const sequenceIn = ({ data }: Log): number => Number(`0x${data.slice(-64)}`)

/** Opens a filter that leaves logs out of `eth_getLogs`. */
export function openLogFilter(target: string) {
  const filter = { omits: (_: Log) => false }
  const change: ChangeResult = ({ method }, result) =>
    method === 'eth_getLogs' && result ? (result as Log[]).filter((log) => !filter.omits(log)) : result
  return Object.assign(filter, openRpcFilter(target, change))
}
