import type { Clock } from '#shared/clock'
import { type ChainIdentity, identify } from './identity'
import { type Rpc, RpcFault } from './rpc'
import { readFinalized, readSpan, type Span } from './span'

/** What we know of one JSON-RPC endpoint. `host` may be shown: the path may hold a key. */
export type Endpoint = {
  readonly host: string
  readonly range: () => Range
  /** As far as it was finalized when it last said so. */
  readonly finalized: () => number
  /** The same, if nothing was read up to it since: a step that failed does not ask for it again. */
  readonly unread: () => number
  readonly restsUntilMs: () => number
  readonly rest: (ms: number) => void
  /** Its genesis hash; throws `RpcFault` if it is another chain or has no such contract. */
  readonly identify: () => Promise<string>
  readonly readFinalized: () => Promise<number>
  /** Reads and learns from the outcome how many blocks to ask for. */
  readonly readSpan: (from: number, to: number) => Promise<Span>
}

const deadlineMs = 4_000
/** A range that takes longer than this is too wide, whatever the endpoint thinks of it. */
const spanDeadlineMs = 8_000

export function openEndpoint(
  rpc: Rpc,
  identity: ChainIdentity,
  rangeMax: number,
  clock: Clock,
): Endpoint {
  let range = startRange(rangeMax)
  let finalized = -1
  let unread = -1
  let restsUntilMs = 0
  let genesis: string | null = null
  return {
    host: rpc.endpoint.host,
    range: () => range,
    finalized: () => finalized,
    unread: () => unread,
    restsUntilMs: () => restsUntilMs,
    rest: (ms) => {
      restsUntilMs = clock() + ms
    },
    identify: async () => {
      genesis ??= await identify(rpc, identity)
      return genesis
    },
    readFinalized: async () => {
      finalized = await readFinalized(rpc, deadlineMs)
      unread = finalized
      return finalized
    },
    readSpan: async (from, to) => {
      try {
        const span = await readSpan(
          { ...rpc, contract: identity.contract },
          from,
          to,
          spanDeadlineMs,
        )
        finalized = span.finalized
        unread = -1
        range = afterSuccess(range, span.events.length, clock())
        return span
      } catch (error) {
        const fault = error as RpcFault
        if (fault.kind === 'range' || fault.kind === 'late') {
          range = afterRefusal(range, to - from + 1, fault, clock())
        }
        throw error
      }
    },
  }
}

/** The endpoints in turn: one is asked until it fails, then the next that is not resting. */
export type Endpoints = {
  readonly current: () => Endpoint
  /** One that is not the current one, if there is any that does not rest. */
  readonly other: () => Endpoint
  /** Decides what a fault means for the endpoint: a smaller range, a rest, the next one. */
  readonly blame: (endpoint: Endpoint, fault: unknown) => void
}

/** One that keeps a step waiting until its deadline is not asked again soon. */
const restMs = { range: 0, late: 30_000, behind: 200, busy: 1_000, broken: 1_000 } as const

export function openEndpoints(all: readonly Endpoint[], clock: Clock): Endpoints {
  let index = 0
  const leastRest = (candidates: readonly Endpoint[]): Endpoint =>
    candidates.reduce((best, next) =>
      Math.max(next.restsUntilMs(), clock()) < Math.max(best.restsUntilMs(), clock()) ? next : best,
    )
  const inTurn = () => all.map((_, step) => all[(index + step) % all.length]!)
  const current = () => leastRest(inTurn())
  return {
    current,
    other: () => {
      const others = inTurn().filter((one) => one !== current() && one.restsUntilMs() <= clock())
      return others[0] ?? current()
    },
    blame: (endpoint, fault) => {
      const kind = fault instanceof RpcFault ? fault.kind : 'broken'
      // Even a single block was too much: smaller cannot be asked, so another must answer.
      const smallest = kind === 'range' && endpoint.range().blocks === 1
      if (!smallest && restMs[kind] === 0) return
      endpoint.rest(smallest ? restMs.broken : restMs[kind])
      index = (all.indexOf(endpoint) + 1) % all.length
    },
  }
}

/** How many blocks to ask one endpoint for at once. */
export type Range = {
  readonly blocks: number
  /** The limit the endpoint taught us; forgotten at `capUntilMs`, as it may have been a hiccup. */
  readonly cap: number
  readonly capUntilMs: number
  readonly max: number
}

const capHoldsMs = 60_000
/** More logs than this in one answer cost memory without bringing speed. */
const logsWanted = 1_000

/** Starts with a quarter: how large the first answers are is not known. */
export const startRange = (max: number): Range => ({
  blocks: Math.max(1, Math.floor(max / 4)),
  cap: max,
  capUntilMs: 0,
  max,
})

/** Grows by a tenth up to the known cap, and shrinks when an answer was large. */
export function afterSuccess(range: Range, logs: number, nowMs: number): Range {
  if (logs > logsWanted) return { ...range, blocks: Math.max(1, Math.floor(range.blocks / 2)) }
  if (logs > logsWanted / 2) return range
  const cap = nowMs < range.capUntilMs ? range.cap : range.max
  const blocks = Math.min(cap, range.blocks + Math.ceil(range.blocks / 10))
  return { ...range, cap, blocks: Math.max(1, blocks) }
}

/** Halves. A cap that the endpoint names is believed; a time-out sets no cap. */
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
