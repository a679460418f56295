import { BaseError, HttpRequestError, TimeoutError } from 'viem'
import { type ChainAsk, openAsker } from '#shared/chain/asker'
import { onlyOf, type RpcEndpoint, type RpcEndpoints, Stale } from '#shared/chain/endpoints'
import { askedTooOftenIn, type ErrorMeaning, meaningIn } from '#shared/chain/error-meaning'
import type { RpcCall } from '#shared/chain/methods'
import { BudgetExhausted } from '#shared/chain/turns'

/**
 * Kind of a fault. `range`: request fewer blocks. `late`: the endpoint timed out. `behind`: the node lacks these blocks
 * so far. `busy`: the endpoint limits its requests. `broken`: the endpoint is down or its answer is invalid.
 */
export type FaultKind = 'range' | 'late' | 'behind' | 'busy' | 'broken'

export class RpcFault extends Error {
  override name = 'RpcFault'
  constructor(
    readonly kind: FaultKind,
    message: string,
  ) {
    super(message)
  }
}

/** One endpoint, which alone answers, because the events must be those that its own head counts. */
export type Rpc = {
  readonly endpoint: RpcEndpoint
  readonly endpoints: RpcEndpoints
  readonly askWithin: (deadlineMs: number) => ChainAsk
}

export function openRpc(endpoints: RpcEndpoints, endpoint: RpcEndpoint): Rpc {
  const opened = new Map<number, ChainAsk>()
  const open = (timeoutMs: number) =>
    openAsker({
      endpoints: onlyOf(endpoints, endpoint),
      timeoutMs,
      batches: true,
      waitsForRate: false,
    })
  return {
    endpoint,
    endpoints,
    askWithin: (deadlineMs) => {
      const ask = opened.get(deadlineMs) ?? open(deadlineMs)
      opened.set(deadlineMs, ask)
      return ask
    },
  }
}

/** Sends calls, as a batch if the endpoint takes batches. Throws `RpcFault` if one of them fails. */
export async function rpcBatch({ askWithin }: Rpc, calls: readonly RpcCall[], deadlineMs: number): Promise<unknown[]> {
  const ask = askWithin(deadlineMs)
  return Promise.all(
    calls.map((call) =>
      ask(call).catch((error) => {
        throw new RpcFault(kindOf(call, error), `${call.method}: ${reasonOf(error)}`)
      }),
    ),
  )
}

const kinds: { readonly [M in ErrorMeaning]: FaultKind } = {
  chain: 'broken',
  rate: 'busy',
  limit: 'range',
  range: 'range',
  behind: 'behind',
  busy: 'busy',
  fault: 'broken',
}

/** Returns the kind of a fault. Only a range of blocks can be too wide. */
export function kindOf(call: RpcCall, error: unknown): FaultKind {
  const has = (test: (one: unknown) => boolean) => error instanceof BaseError && error.walk(test) !== null
  const status = (...of: number[]) => has((one) => one instanceof HttpRequestError && of.includes(one.status ?? 0))
  if (error instanceof Stale) return 'behind'
  if (has((one) => one instanceof BudgetExhausted)) return 'busy'
  if (has((one) => one instanceof TimeoutError) || status(408, 504)) return 'late'
  if (status(413) && call.method === 'eth_getLogs') return 'range'
  return kinds[meaningIn(call, error)]
}

/** Returns the reason without the URL, which may contain a key. */
function reasonOf(error: unknown): string {
  if (!(error instanceof BaseError)) return String(error)
  if (askedTooOftenIn(error)) return 'the endpoint responded 429'
  if (error.walk((one) => one instanceof TimeoutError)) return 'the endpoint timed out'
  const failed = error.walk((one) => one instanceof HttpRequestError) as HttpRequestError | null
  if (failed) return failed.status ? `the endpoint responded ${failed.status}` : 'the endpoint cannot be reached'
  return (error.details || error.shortMessage).slice(0, 200)
}
