import { steadyClock } from '#platform/clock'
import { type FinalizedHead, type KnownBlock, readHead } from './head'
import { type ExpectedChain, readIdentity } from './identity'
import { type Rpc, RpcFault } from './rpc'
import { type LogSpan, readSpan } from './span'

/** An endpoint, of which only the `host` may be logged: the path may contain a key. */
export type Endpoint = {
  readonly host: string
  readonly range: () => Range
  readonly finalized: () => number
  readonly restsUntilMs: () => number
  readonly rest: (ms: number) => void
  readonly isBehind: () => boolean
  /** Returns the genesis hash. Throws `RpcFault` if the endpoint serves another chain or contract. */
  readonly identify: () => Promise<string>
  /** Reads the finalized block, or returns null while that is still the known one. */
  readonly readHead: (known: KnownBlock) => Promise<FinalizedHead | null>
  readonly readSpan: (from: number, to: number, head: FinalizedHead) => Promise<LogSpan>
}

const deadlineMs = 4_000
/** Deadline of a query in ms; a range that takes longer is too wide. */
const spanDeadlineMs = 8_000

export function openEndpoint(rpc: Rpc, identity: ExpectedChain, rangeMax: number): Endpoint {
  const line = { ...rpc, contract: identity.contract }
  let range = startRange(rangeMax)
  let finalized = -1
  let restsUntilMs = 0
  let genesis: string | null = null
  return {
    host: rpc.endpoint.host,
    range: () => range,
    finalized: () => finalized,
    restsUntilMs: () => restsUntilMs,
    rest: (ms) => {
      restsUntilMs = steadyClock() + ms
      genesis = null
    },
    isBehind: () => rpc.endpoints.isBehind(rpc.endpoint),
    identify: async () => {
      genesis ??= await itsFault(readIdentity(rpc, identity))
      return genesis
    },
    readHead: async (known) => {
      const head = await itsFault(readHead(line, known, deadlineMs))
      finalized = head?.block ?? known.blockNumber
      return head
    },
    readSpan: async (from, to, head) => {
      try {
        const span = await itsFault(readSpan(line, { from, to, head }, spanDeadlineMs))
        range = afterSuccess(range, span.events.length, steadyClock())
        return span
      } catch (error) {
        const fault = error as RpcFault
        if (fault.kind === 'range' || fault.kind === 'late') {
          range = afterRefusal(range, to - from + 1, fault, steadyClock())
        }
        throw error
      }
    },
  }
}

/** Reports an unreadable answer as a fault of its endpoint, so that another one is asked. */
const itsFault = <T>(reading: Promise<T>): Promise<T> =>
  reading.catch((error: Error) => {
    if (error instanceof RpcFault) throw error
    throw new RpcFault('broken', `the endpoint's answer cannot be read: ${error.message}`)
  })

export type Endpoints = {
  readonly current: () => Endpoint
  readonly blame: (endpoint: Endpoint, fault: unknown) => void
}

const restMs = { range: 0, late: 30_000, behind: 200, busy: 1_000, broken: 1_000 } as const

export function openEndpoints(all: readonly Endpoint[], clock = steadyClock): Endpoints {
  let index = 0
  const leastRest = (candidates: readonly Endpoint[]): Endpoint => {
    const now = clock()
    const end = (one: Endpoint) => Math.max(one.restsUntilMs(), now)
    return candidates.reduce((best, next) => (end(next) < end(best) ? next : best))
  }
  const inTurn = () => {
    const turn = all.map((_, step) => all[(index + step) % all.length]!)
    const abreast = turn.filter((one) => !one.isBehind())
    return abreast.length > 0 ? abreast : turn
  }
  const current = () => leastRest(inTurn())
  return {
    current,
    blame: (endpoint, fault) => {
      const kind = fault instanceof RpcFault ? fault.kind : 'broken'
      // In this case even a single block was too large.
      const smallest = kind === 'range' && endpoint.range().blocks === 1
      if (!smallest && restMs[kind] === 0) return
      endpoint.rest(smallest ? restMs.broken : restMs[kind])
      index = (all.indexOf(endpoint) + 1) % all.length
    },
  }
}

export type Range = {
  readonly blocks: number
  /** Limit named by the endpoint, which is dropped at `capUntilMs` because it may have been temporary. */
  readonly cap: number
  readonly capUntilMs: number
  readonly max: number
}

const capHoldsMs = 60_000
/** Number of logs per query, above which answers cost memory without adding speed. */
const logsWanted = 1_000

export const startRange = (max: number): Range => ({
  blocks: Math.max(1, Math.floor(max / 4)),
  cap: max,
  capUntilMs: 0,
  max,
})

export function afterSuccess(range: Range, logs: number, nowMs: number): Range {
  if (logs > logsWanted) return { ...range, blocks: Math.max(1, Math.floor(range.blocks / 2)) }
  if (logs > logsWanted / 2) return range
  const cap = nowMs < range.capUntilMs ? range.cap : range.max
  const blocks = Math.min(cap, range.blocks + Math.ceil(range.blocks / 10))
  return { ...range, cap, blocks: Math.max(1, blocks) }
}

/** Returns the range after a refusal. It uses the limit that the endpoint names; a timeout sets no cap. */
export function afterRefusal(
  range: Range,
  tried: number,
  fault: { kind: string; message: string },
  nowMs: number,
): Range {
  const blocks = Math.max(1, Math.floor(Math.min(tried, range.blocks) / 2))
  if (fault.kind !== 'range') return { ...range, blocks }
  const named = Number(/limited to a? ?(\d+)/i.exec(fault.message)?.[1] ?? Number.NaN)
  const cap = named >= 1 && named < tried ? named : Math.max(1, tried - 1)
  return {
    ...range,
    blocks: named >= 1 && named < tried ? named : blocks,
    cap: Math.min(cap, range.max),
    capUntilMs: nowMs + capHoldsMs,
  }
}
