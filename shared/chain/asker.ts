import { BaseError, HttpRequestError, http, TimeoutError, type Transport } from 'viem'
import { steadyClock, systemClock } from '#platform/clock'
import { DeadlinePassed, within } from '#platform/deadline'
import { inSpan } from '#platform/tracing/spans'
import { batchMax } from '#shared/chain/batches'
import { type RpcEndpoint, type RpcEndpoints, Stale } from '#shared/chain/endpoints'
import { AskedTooOften, askedTooOftenIn, meaningIn } from '#shared/chain/error-meaning'
import { AnotherChain } from '#shared/chain/identity'
import { faultIn, isDoubtful, methodOf, type RpcCall, type Urgency } from '#shared/chain/methods'
import { rpcCalls } from '#shared/chain/rpc-calls'
import { BudgetExhausted } from '#shared/chain/turns'
import { retryAfterMs } from '#shared/provider/answer'

/** Sends a call to the chain. Throws viem's errors. */
export type ChainAsk = (call: RpcCall, how?: How) => Promise<unknown>

type How = {
  /** Index of the endpoint to try first. */
  readonly first?: number
  /** True if no other endpoint is tried. */
  readonly only?: boolean
  /** Returns true for a result that can be true. An endpoint with another one, such as null, lacks what others have. */
  readonly accepts?: (result: unknown) => boolean | Promise<boolean>
}

export type AskerOptions = {
  readonly endpoints: RpcEndpoints
  /** Timeout per endpoint, in ms. */
  readonly timeoutMs: number
  readonly batches: boolean
  /** Urgency of all calls; by default each method has its own. */
  readonly urgency?: Urgency | undefined
  /** False if a rate limit counts as a failure of the endpoint, because the caller knows another one. */
  readonly waitsForRate?: boolean
}

/** A timeout after waiting had left too little time, for which the endpoint is not to blame. */
class CutShort extends TimeoutError {}

/** An answer that no node of the chain can give. */
class Impossible extends BaseError {
  override name = 'Impossible'
}

/**
 * Opens a way to call the endpoints in order. The next endpoint is tried if the budget of one is spent, or if it does
 * not respond, returns an error of its own or an answer that cannot be true, or lacks what must exist. A doubtful answer
 * counts only if every endpoint gives it. After a rate limit, with which nothing was done, an endpoint may be retried.
 * If the last one cut the connection, a read is tried at all endpoints once more. Everything ends at the deadline.
 */
export function openAsker(options: AskerOptions): ChainAsk {
  const { endpoints, timeoutMs, urgency, waitsForRate = true } = options
  const ways = new Map(endpoints.all.map((one) => [one, openWays(one, options)]))
  const deadlineMs = timeoutMs * endpoints.all.length

  const ask: ChainAsk = async (call, { first, only = false, accepts = () => true } = {}) => {
    const until = steadyClock() + deadlineMs
    const failed = new Set(only ? endpoints.all.filter((_, at) => at !== first) : [])
    const others = [...failed]
    const doubted = new Map<RpcEndpoint, unknown>()
    const limited = new Set<RpcEndpoint>()
    let last: unknown
    let mayRepeat = call.method !== 'eth_sendRawTransaction'
    for (;;) {
      const left = endpoints.inOrder(first).filter((one) => !failed.has(one))
      const among = endpoints.fitFor(call, left)
      if (among.length === 0) {
        const fit = endpoints.fitFor(call, endpoints.all)
        if (fit.every((one) => doubted.has(one))) return doubted.get(fit[0]!)
        if (!mayRepeat || !isCut(last)) throw last ?? new Stale('every endpoint left is behind')
        mayRepeat = false
        failed.clear()
        for (const one of others) failed.add(one)
        continue
      }
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
        const why = faultIn(call, result)
        if (why) {
          endpoints.disproved(endpoint, call, why)
          throw new Impossible(`${call.method} returned ${why}`)
        }
        tell('ok')
        endpoints.record(call, result)
        endpoints.answered(endpoint)
        endpoints.judge(endpoint, call, result, askedAt)
        if (isDoubtful(call, result) || !(await accepts(result))) {
          doubted.set(endpoint, result)
          failed.add(endpoint)
          last ??= new Impossible(`${call.method} returned ${shown(result)}`)
          continue
        }
        for (const wrong of doubted.keys()) endpoints.disproved(wrong, call, shown(doubted.get(wrong)))
        return result
      } catch (error) {
        const meaning = meaningIn(call, error)
        tell(meaning === 'chain' ? 'ok' : 'failed')
        // This error is thrown only if every endpoint serves another chain.
        if (!(error instanceof AnotherChain && last)) last = error
        const isRate = meaning === 'rate' || (meaning === 'limit' && !limited.has(endpoint))
        if (isRate) {
          limited.add(endpoint)
          endpoints.close(endpoint, askedTooOftenIn(error)?.forMs ?? closedDefaultMs)
          if (!waitsForRate) failed.add(endpoint)
        } else if (meaning === 'chain') throw error
        else if (shared && isNoBatch(error)) endpoint.takesBatches = undefined
        else {
          failed.add(endpoint)
          // A refused transaction is an answer.
          if (meaning === 'fault' && call.method !== 'eth_sendRawTransaction') endpoints.faulted(endpoint)
          if (!isAway(error)) continue
          endpoints.shun(endpoint)
          endpoints.lost(endpoint, error)
        }
      }
    }
  }
  return (call, how) => inSpan(`chain ${call.method}`, { kind: 'client' }, () => ask(call, how))
}

const shown = (result: unknown): string => String(JSON.stringify(result)).slice(0, 200)

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

function openWays(endpoint: RpcEndpoint, { timeoutMs, batches }: AskerOptions) {
  const fetchFn = async (input: string | URL | Request, init?: RequestInit) => {
    const response = await fetch(input, init)
    if (response.status === 429) throw new AskedTooOften(retryAfterMs(response.headers, systemClock()))
    return typeof init?.body === 'string' && init.body.startsWith('[') ? inOrderOf(init.body, response) : response
  }
  const open = (batch: false | { batchSize: number }) =>
    http(endpoint.url, { retryCount: 0, timeout: timeoutMs, fetchFn, batch })({
      retryCount: 0,
    }) as ReturnType<Transport>
  const single = open(false)
  const together = open({ batchSize: batchMax })
  return (call: RpcCall): Promise<unknown> => {
    const shares = batches && endpoint.takesBatches && !methodOf(call.method).isAlone
    return (shares ? together : single).request(call as never)
  }
}

type BatchAnswer = { readonly id?: unknown } | null

/**
 * Returns the response to a batch with one answer for each call, in their order, because viem gives a call the answer at
 * its place among those sorted by id. An endpoint may leave one out or repeat one; a call without an answer of its own is
 * sent again outside of a batch.
 */
async function inOrderOf(batch: string, response: Response): Promise<Response> {
  const { status, headers } = response
  const type = headers.get('content-type') ?? 'application/json'
  const text = await response.text()
  const again = (body: string) => new Response(body, { status, headers: { 'content-type': type } })
  let answers: unknown
  try {
    answers = JSON.parse(text)
  } catch {
    return again(text)
  }
  if (!Array.isArray(answers)) return again(text)
  const calls = JSON.parse(batch) as readonly { readonly id: number }[]
  const ordered = calls.map(({ id }) => {
    const own = (answers as readonly BatchAnswer[]).filter((one) => one?.id === id)
    const error = { code: -32603, message: `the batch has ${own.length} answers to this call` }
    return own.length === 1 ? own[0] : { jsonrpc: '2.0', id, error }
  })
  return again(JSON.stringify(ordered))
}

/** Pause in ms after a rate limit that names none. */
const closedDefaultMs = 1_000

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
 * Returns true if the endpoint does not take batches, or none of this size: viem throws a TypeError if the response to a
 * batch is not a list, and some endpoints answer each call with an error about the batch.
 */
const isNoBatch = (error: unknown): boolean =>
  error instanceof BaseError &&
  !isAway(error) &&
  (/\bbatch/i.test(error.details ?? '') || error.walk((one) => one instanceof TypeError) !== null)
