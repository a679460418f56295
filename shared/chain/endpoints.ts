import { BaseError, numberToHex, toFunctionSelector } from 'viem'
import { type Clock, steadyClock } from '#platform/clock'
import { type Log, openLogThrottled } from '#platform/log'
import { type Outage, openOutage } from '#platform/outage'
import { type CallsPerBlock, openCallsPerBlock } from '#shared/chain/calls-per-block'
import { type Heads, openHeads, type RawBlock } from '#shared/chain/heads'
import { AnotherChain, type ChainIdentity, openIdentifying } from '#shared/chain/identity'
import { isHash, methodOf, type RpcCall, type Urgency } from '#shared/chain/methods'
import { BudgetExhausted, ethCallsIn, openTurns, type RpcBudget } from '#shared/chain/turns'

export type RpcEndpoint = {
  readonly url: string
  /** Host of the URL, which alone may be displayed because the path may contain a key. */
  readonly host: string
  /** True if the endpoint serves our chain. Undefined means that it must be identified before its next use. */
  isOurs: boolean | undefined
  /** True if the endpoint takes batches. While it is undefined (unknown), the endpoint gets none. */
  takesBatches: boolean | undefined
  readonly counts: { requests: number; ethCalls: number; tooMany: number; waited: number }
}

/** The endpoints, whose budgets and figures all parts of a process share. */
export type RpcEndpoints = {
  readonly all: readonly RpcEndpoint[]
  /** Returns the endpoints from index `first` on, with failed and lagging ones last. */
  readonly inOrder: (first?: number) => RpcEndpoint[]
  /**
   * Waits until one of `among` has budget for all calls, healthy ones first, and counts them. Throws `BudgetExhausted`
   * after `patienceMs`.
   */
  readonly turn: (asked: {
    calls: readonly RpcCall[]
    among: readonly RpcEndpoint[]
    patienceMs: number
    urgency?: Urgency | undefined
  }) => Promise<RpcEndpoint>
  /** Stops using an endpoint for a while, after a rate limit response. */
  readonly close: (endpoint: RpcEndpoint, forMs: number) => void
  /** Prefers other endpoints for a while, after a missing response. */
  readonly shun: (endpoint: RpcEndpoint) => void
  /** Logs an outage once, until `answered` ends it. */
  readonly lost: (endpoint: RpcEndpoint, error: unknown) => void
  readonly answered: (endpoint: RpcEndpoint) => void
  /** Counts an error of the endpoint's own. One that gives nothing else, as without a valid key, is avoided for a while. */
  readonly faulted: (endpoint: RpcEndpoint) => void
  /** Reads the chain head from a result, to count calls per block. */
  readonly record: (call: RpcCall, result: unknown) => void
  /**
   * Compares the result with the heads of other endpoints. Throws `Stale` if the endpoint lacks a block that must
   * exist. `askedAt` is in Unix ms by `steadyClock`.
   */
  readonly judge: (from: RpcEndpoint, call: RpcCall, result: unknown, askedAt: number) => void
  /** Returns true if other endpoints have had newer blocks for a while. */
  readonly isBehind: (endpoint: RpcEndpoint) => boolean
  /**
   * Returns the endpoints that may answer a call. One that is behind answers none that needs the head while another is
   * not, however long that one takes: an old answer is worse than none.
   */
  readonly fitFor: (call: RpcCall, among: readonly RpcEndpoint[]) => RpcEndpoint[]
  /** Avoids an endpoint that gave an answer which cannot be true. */
  readonly disproved: (endpoint: RpcEndpoint, call: RpcCall, why: string) => void
  /**
   * Checks which chain the endpoint serves, before its first use and after an outage. Throws `AnotherChain`, or the
   * error of `ask`.
   */
  readonly identify: (endpoint: RpcEndpoint, ask: (call: RpcCall) => Promise<unknown>) => Promise<void>
  /**
   * Compares the history of an endpoint with that of the first other one in RPC_URLS before it: a finalized block has
   * one hash. Returns false if they have no such block yet. Throws `AnotherChain`, and the endpoint is not used, if they
   * differ.
   */
  readonly compareHistory: (endpoint: RpcEndpoint, ask: (call: RpcCall) => Promise<unknown>) => Promise<boolean>
  /**
   * Compares the state of an endpoint with that of the first other one before it, by the credit line's number of events at
   * one final block. That only grows, so the endpoint with less is behind, although it may have every block: nodes exist
   * that read old state while they execute the newest blocks.
   */
  readonly compareState: (
    endpoint: RpcEndpoint,
    ask: (of: RpcEndpoint, call: RpcCall) => Promise<unknown>,
  ) => Promise<void>
  /** Returns when the endpoint's head was last compared, in Unix ms by `steadyClock`. */
  readonly comparedAt: (endpoint: RpcEndpoint) => number | undefined
  readonly figures: () => RpcFigures
}

export type RpcFigures = {
  readonly perBlock: CallsPerBlock
  readonly endpoints: Readonly<Record<string, EndpointFigures>>
}

/** Figures of an endpoint, where `batches` is 1 (supported), 0 (not supported) or null (unknown). */
type EndpointFigures = RpcEndpoint['counts'] & { readonly batches: 1 | 0 | null }

const unlimited: RpcBudget = { requestsPerSecond: 1e9, ethCallsPerSecond: 1e9 }
const shunnedMs = 30_000
/** How long a call waits for a healthy endpoint's budget, in ms. */
const preferredMs = 500
const foreignMs = 10_000
/** Longer than the interval of comparisons, so that an endpoint with old state stays behind between them. */
const oldStateMs = 25_000
const sequenceData = toFunctionSelector('sequence()')
/** Errors in a row after which an endpoint is avoided. */
const faultsMax = 5

export class Stale extends BaseError {
  override name = 'Stale'
}
const closedMinMs = 250

/** Opens the endpoints, of which `rpcUrls` has the best first. Without a budget, calls are not limited. */
export function openRpcEndpoints(options: {
  rpcUrls: readonly string[]
  budget?: RpcBudget
  clock?: Clock
  /** Chain that the endpoints must serve; without it they are not identified. */
  identity?: ChainIdentity
  log?: Log
}): RpcEndpoints {
  const { rpcUrls, budget = unlimited, clock = steadyClock, log, identity } = options
  const turns = openTurns(budget, clock)
  const perBlock = openCallsPerBlock(clock)
  const shunnedUntil = new Map<RpcEndpoint, number>()
  const faults = new Map<RpcEndpoint, number>()
  const all = rpcUrls.map(
    (url): RpcEndpoint => ({
      url,
      host: new URL(url).host,
      isOurs: identity ? undefined : true,
      takesBatches: undefined,
      counts: { requests: 0, ethCalls: 0, tooMany: 0, waited: 0 },
    }),
  )
  const outages = new Map(log ? all.map((one, at) => [one, outageOf(nameOf(all, at), log)]) : [])
  const isShunned = (one: RpcEndpoint) => (shunnedUntil.get(one) ?? 0) > clock()
  const finalized: Heads<RpcEndpoint> = openHeads(clock)
  const latest: Heads<RpcEndpoint> = openHeads(clock)
  const oldStateUntil = new Map<RpcEndpoint, number>()
  const hasOldState = (one: RpcEndpoint) => (oldStateUntil.get(one) ?? 0) > clock()
  const isBehind = (one: RpcEndpoint) => finalized.isBehind(one) || latest.isBehind(one) || hasOldState(one)
  /** Returns the rank of an endpoint. One that lags still responds, so it comes before one that does not. */
  const rankOf = (one: RpcEndpoint) => (isShunned(one) ? 2 : isBehind(one) ? 1 : 0)
  const logSeldom = log && openLogThrottled(log, clock)
  const shun = (endpoint: RpcEndpoint) => void shunnedUntil.set(endpoint, clock() + shunnedMs)
  const isKnown = (number: string) => /^0x/.test(number) && BigInt(number) <= (finalized.newest() ?? -1n)
  const check = identity && openIdentifying(identity)
  const foreignUntil = new Map<RpcEndpoint, number>()
  const identifying = new Map<RpcEndpoint, Promise<void>>()
  const unlessForeign = async <T>(one: RpcEndpoint, check: Promise<T>): Promise<T> => {
    try {
      return await check
    } catch (error) {
      if (!(error instanceof AnotherChain)) throw error
      one.isOurs = false
      foreignUntil.set(one, clock() + foreignMs)
      const fields = { endpoint: one.host, reason: error.shortMessage }
      log?.alarm(fields, 'endpoint serves another chain, not used')
      throw error
    }
  }
  const betterThan = (one: RpcEndpoint) =>
    all.slice(0, all.indexOf(one)).find((other) => other.isOurs && finalized.last(other))
  const checkHistory = async (one: RpcEndpoint, ask: (call: RpcCall) => Promise<unknown>) => {
    const better = betterThan(one)
    const known = better && finalized.last(better)
    if (!known) return false
    const block = (await ask({
      method: 'eth_getBlockByNumber',
      params: [numberToHex(known.number), false],
    })) as RawBlock | null
    // A node that has no such block yet says nothing about it.
    if (!block) return false
    if (block.hash !== known.hash)
      throw new AnotherChain(`block ${known.number} is ${block.hash}, and ${known.hash} at ${better.host}`)
    return true
  }
  const findOut = async (one: RpcEndpoint, ask: (call: RpcCall) => Promise<unknown>) => {
    try {
      await unlessForeign(one, check ? check(ask).then(() => checkHistory(one, ask)) : Promise.resolve(false))
      one.isOurs = true
    } finally {
      identifying.delete(one)
    }
  }
  return {
    all,
    inOrder: (first = 0) => {
      const inTurn = all.map((_, step) => all[(first + step) % all.length]!)
      return inTurn.toSorted((one, two) => rankOf(one) - rankOf(two))
    },
    turn: async ({ calls, among, patienceMs, urgency }) => {
      const methods = calls.map(({ method }) => method)
      const next = (of: readonly RpcEndpoint[], waitMs: number) =>
        turns.next({ methods, among: of.map(({ url }) => url), patienceMs: waitMs, urgency })
      const best = Math.min(...among.map(rankOf))
      const fit = among.filter((one) => rankOf(one) === best)
      const askedAt = clock()
      const preferred = async () => {
        // Without an alternative, a call keeps its place in the queue.
        if (fit.length === among.length) return undefined
        return next(fit, Math.min(patienceMs, preferredMs)).catch((isExhausted) => {
          if (!(isExhausted instanceof BudgetExhausted)) throw isExhausted
        })
      }
      const { url, waited } = (await preferred()) ?? (await next(among, patienceMs - (clock() - askedAt)))
      const endpoint = among.find((one) => one.url === url)!
      const ethCalls = ethCallsIn(methods)
      endpoint.counts.requests += methods.length
      endpoint.counts.ethCalls += ethCalls
      if (waited) endpoint.counts.waited += methods.length
      const overhead = calls.filter(isOverhead).length
      perBlock.count({ requests: methods.length, ethCalls, overhead })
      return endpoint
    },
    close: (endpoint, forMs) => {
      endpoint.counts.tooMany += 1
      turns.close(endpoint.url, Math.max(forMs, closedMinMs))
    },
    shun,
    lost: (endpoint, error) => {
      if (identity) endpoint.isOurs = undefined
      outages.get(endpoint)?.failed(error)
    },
    answered: (endpoint) => {
      faults.delete(endpoint)
      outages.get(endpoint)?.works()
    },
    faulted: (endpoint) => {
      const count = (faults.get(endpoint) ?? 0) + 1
      faults.set(endpoint, count)
      if (count < faultsMax) return
      faults.delete(endpoint)
      shun(endpoint)
    },
    record: (call, result) => {
      const head = headIn(call, result)
      if (head !== undefined) perBlock.sawHead(head)
    },
    judge: (from, { method, params }, result, askedAt) => {
      if (method !== 'eth_getBlockByNumber') return
      const [tag] = params as readonly string[]
      const block = result as RawBlock | null
      const heads = tag === 'finalized' ? finalized : tag === 'latest' ? latest : undefined
      heads?.record(from, block, askedAt)
      if (!block && (heads || isKnown(tag!))) throw new Stale(`the endpoint has no block ${tag}`)
    },
    isBehind,
    fitFor: (call, among) =>
      methodOf(call.method).needsHead && !all.every(isBehind) ? among.filter((one) => !isBehind(one)) : [...among],
    disproved: (endpoint, { method }, why) => {
      shun(endpoint)
      const fields = { endpoint: endpoint.host, method, why }
      logSeldom?.warn(`${endpoint.host} ${method}`, fields, 'rpc endpoint gave an impossible answer, avoided')
    },
    compareHistory: (endpoint, ask) => unlessForeign(endpoint, checkHistory(endpoint, ask)),
    compareState: async (one, ask) => {
      const better = betterThan(one)
      const known = better && finalized.last(better)
      const own = finalized.last(one)
      if (!better || !known || !own || !identity?.creditLine) return
      const { number } = own.number < known.number ? own : known
      const call = {
        method: 'eth_call',
        params: [{ to: identity.creditLine, data: sequenceData }, numberToHex(number)],
      }
      const [left, right] = await Promise.all([ask(better, call), ask(one, call)])
      if (!isHash(left) || !isHash(right)) return
      const missing = BigInt(left) - BigInt(right)
      if (missing === 0n) for (const both of [better, one]) oldStateUntil.delete(both)
      else oldStateUntil.set(missing > 0n ? one : better, clock() + oldStateMs)
    },
    comparedAt: finalized.askedAt,
    identify: (endpoint, ask) => {
      if (endpoint.isOurs) return Promise.resolve()
      if (endpoint.isOurs === false && (foreignUntil.get(endpoint) ?? 0) > clock())
        return Promise.reject(new AnotherChain(`the endpoint ${endpoint.host} is of another chain`))
      const running = identifying.get(endpoint) ?? findOut(endpoint, ask)
      identifying.set(endpoint, running)
      return running
    },
    figures: () => ({
      perBlock: perBlock.read(),
      endpoints: Object.fromEntries(all.map((one, at) => [nameOf(all, at), figuresOf(one)])),
    }),
  }
}

/** Returns endpoints of which only one is asked. The caller checks itself which chain it serves. */
export const onlyOf = (endpoints: RpcEndpoints, endpoint: RpcEndpoint): RpcEndpoints => ({
  ...endpoints,
  all: [endpoint],
  inOrder: () => [endpoint],
  fitFor: (_, among) => [...among],
  identify: async () => {},
})

const awayErrors: ReadonlySet<string> = new Set(['HttpRequestError', 'TimeoutError', 'RpcFault'])

const outageOf = (endpoint: string, log: Log): Outage =>
  openOutage({
    name: 'rpc endpoint',
    log,
    fields: { endpoint },
    ofIt: (error) => awayErrors.has(error.name),
  })

/** Returns true for calls that neither submit nor simulate a transaction; only a simulation has a sender. */
function isOverhead({ method, params }: RpcCall): boolean {
  if (method === 'eth_sendRawTransaction') return false
  if (method !== 'eth_call') return true
  const [call] = (params ?? []) as readonly { from?: unknown }[]
  return call?.from === undefined
}

function headIn({ method, params }: RpcCall, result: unknown): number | undefined {
  if (method !== 'eth_getBlockByNumber') return undefined
  const [tag] = params as readonly unknown[]
  if (tag !== 'finalized') return undefined
  const head = Number((result as { number?: unknown } | null)?.number)
  return Number.isSafeInteger(head) ? head : undefined
}

const figuresOf = ({ counts, takesBatches }: RpcEndpoint): EndpointFigures => ({
  ...counts,
  batches: takesBatches === undefined ? null : takesBatches ? 1 : 0,
})

/** Returns a name for logs, which is more than the host if two keys of one provider have the same host. */
function nameOf(all: readonly RpcEndpoint[], at: number): string {
  const { host } = all[at]!
  const before = all.slice(0, at).filter((one) => one.host === host).length
  return before === 0 ? host : `${host} ${before + 1}`
}
