import { BaseError, type Chain, HttpRequestError, http, shouldThrow, TimeoutError, type Transport } from 'viem'
import { steadyClock, systemClock } from '#platform/clock'
import { DeadlinePassed, within } from '#platform/deadline'
import { inSpan } from '#platform/tracing/spans'
import { batchMax } from '#shared/chain/batches'
import type { RpcCall, RpcEndpoint, RpcEndpoints } from '#shared/chain/endpoints'
import { AnotherChain } from '#shared/chain/identity'
import { rpcCalls } from '#shared/chain/rpc-calls'
import { isTooOften } from '#shared/chain/too-often'
import { BudgetExhausted, type Urgency } from '#shared/chain/turns'
import { retryAfterMs } from '#shared/provider/answer'

/** Sends a call to the chain. Throws viem's errors. */
export type ChainAsk = (call: RpcCall, how?: How) => Promise<unknown>

type How = {
  /** Index of the endpoint to try first. */
  readonly first?: number
  /** Returns true if the error is an answer of the chain, so that no other endpoint is tried. */
  readonly isAnswer?: (error: Error) => boolean
}

export type AskerOptions = {
  readonly endpoints: RpcEndpoints
  readonly chain: Chain
  /** Timeout per endpoint, in ms. */
  readonly timeoutMs: number
  readonly batches: boolean
  /** Urgency of all calls; by default each method has its own. */
  readonly urgency?: Urgency | undefined
}

/** A rate limit response, with the delay that the endpoint asks for, which viem's errors lose. */
class AskedTooOften extends Error {
  override name = 'AskedTooOften'
  constructor(readonly forMs: number) {
    super('too many requests')
  }
}

/** A timeout after waiting had left too little time, for which the endpoint is not to blame. */
class CutShort extends TimeoutError {}

/** Methods that are sent outside of batches, because they must not wait for other calls or would delay them. */
const alone: ReadonlySet<string> = new Set(['eth_sendRawTransaction', 'eth_getLogs'])

/**
 * Opens a way to call the endpoints in order. The next endpoint is tried if the budget of one is spent, or if it does
 * not respond, returns an error of its own or lacks a block that must exist. After a rate limit, with which nothing was
 * done, an endpoint may be retried. If the last one cut the connection, a read is tried at all endpoints once more.
 * Everything ends at the deadline.
 */
export function openAsker(options: AskerOptions): ChainAsk {
  const { endpoints, timeoutMs, urgency } = options
  const ways = new Map(endpoints.all.map((one) => [one, openWays(one, options)]))
  const deadlineMs = timeoutMs * endpoints.all.length

  const ask: ChainAsk = async (call, { first, isAnswer = shouldThrow } = {}) => {
    const until = steadyClock() + deadlineMs
    const failed = new Set<RpcEndpoint>()
    let last: unknown
    let mayRepeat = call.method !== 'eth_sendRawTransaction'
    for (;;) {
      if (failed.size === endpoints.all.length) {
        if (!mayRepeat || !isCut(last)) throw last
        mayRepeat = false
        failed.clear()
      }
      const among = endpoints.inOrder(first).filter((one) => !failed.has(one))
      const turn = { calls: [call], among, patienceMs: until - steadyClock(), urgency }
      const endpoint = await turnAmong(endpoints, turn).catch((isExhausted) => {
        throw last ?? isExhausted
      })
      const shared = endpoint.takesBatches
      const startedMs = performance.now()
      const tell = (outcome: 'ok' | 'failed') =>
        rpcCalls.since(startedMs, { endpoint: endpoint.host, method: call.method, outcome })
      try {
        const way = ways.get(endpoint)!
        const bounded = (asked: RpcCall) =>
          beforeEnd(way(asked), asked, endpoint, { leftMs: until - steadyClock(), timeoutMs })
        await endpoints.identify(endpoint, async (asked) => {
          const patienceMs = until - steadyClock()
          await turnAmong(endpoints, { calls: [asked], among: [endpoint], patienceMs, urgency })
          return bounded(asked)
        })
        const askedAt = steadyClock()
        const result = await bounded(call)
        tell('ok')
        endpoints.record(call, result)
        endpoints.answered(endpoint)
        endpoints.judge(endpoint, call, result, askedAt)
        return result
      } catch (error) {
        tell(isAnswer(error as Error) ? 'ok' : 'failed')
        // This error is thrown only if every endpoint serves another chain.
        if (!(error instanceof AnotherChain && last)) last = error
        const closedMs = closedForMs(error)
        if (closedMs !== undefined) endpoints.close(endpoint, closedMs)
        else if (isAnswer(error as Error)) throw error
        else if (shared && isNoBatch(error)) endpoint.takesBatches = undefined
        else {
          failed.add(endpoint)
          if (!isAway(error)) continue
          endpoints.shun(endpoint)
          endpoints.lost(endpoint, error)
        }
      }
    }
  }
  return (call, how) => inSpan(`chain ${call.method}`, { kind: 'client' }, () => ask(call, how))
}

async function turnAmong(endpoints: RpcEndpoints, turn: Parameters<RpcEndpoints['turn']>[0]): Promise<RpcEndpoint> {
  try {
    return await endpoints.turn(turn)
  } catch (error) {
    if (!(error instanceof BudgetExhausted)) throw error
    throw new BaseError(error.message, { cause: error })
  }
}

async function beforeEnd(
  asked: Promise<unknown>,
  { method }: RpcCall,
  { host }: RpcEndpoint,
  { leftMs, timeoutMs }: { leftMs: number; timeoutMs: number },
): Promise<unknown> {
  if (leftMs >= timeoutMs) return asked
  try {
    return await within(asked, Math.max(1, leftMs), method)
  } catch (error) {
    if (!(error instanceof DeadlinePassed)) throw error
    const Late = leftMs < timeoutMs / 2 ? CutShort : TimeoutError
    throw new Late({ body: { method }, url: host })
  }
}

function openWays(endpoint: RpcEndpoint, { chain, timeoutMs, batches }: AskerOptions) {
  const fetchFn = async (input: string | URL | Request, init?: RequestInit) => {
    const response = await fetch(input, init)
    if (response.status === 429) throw new AskedTooOften(retryAfterMs(response.headers, systemClock()))
    return response
  }
  const open = (batch: false | { batchSize: number }) =>
    http(endpoint.url, { retryCount: 0, timeout: timeoutMs, fetchFn, batch })({
      chain,
      retryCount: 0,
    }) as ReturnType<Transport>
  const single = open(false)
  const together = open({ batchSize: batchMax })
  return (call: RpcCall): Promise<unknown> => {
    const shares = batches && endpoint.takesBatches && !alone.has(call.method)
    return (shares ? together : single).request(call as never)
  }
}

const closedDefaultMs = 1_000

function closedForMs(error: unknown): number | undefined {
  if (!(error instanceof BaseError)) return undefined
  const refused = error.walk((one) => one instanceof AskedTooOften)
  if (refused) return (refused as AskedTooOften).forMs
  const { code } = (error.walk((one) => typeof (one as { code?: unknown }).code === 'number') ?? {}) as {
    code?: number
  }
  return isTooOften(code, error.details ?? '') ? closedDefaultMs : undefined
}

/** Returns true if the endpoint is unreachable. A JSON-RPC error comes from a node that is up. */
const isAway = (error: unknown): boolean =>
  error instanceof BaseError &&
  !(error instanceof CutShort) &&
  error.walk((one) => one instanceof TimeoutError || one instanceof HttpRequestError) !== null

/** Returns true if the connection was cut, after which a read may be repeated at once. */
const isCut = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk((one) => one instanceof HttpRequestError && one.status === undefined) !== null

/**
 * Returns true if the endpoint does not take batches: viem throws a TypeError if the response to a batch is not a list.
 */
const isNoBatch = (error: unknown): boolean =>
  error instanceof BaseError && error.walk((one) => one instanceof TypeError) !== null && !isAway(error)
