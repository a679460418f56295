import type { Clock } from '#shared/clock'
import type { Endpoint } from './endpoint.ts'
import { RpcFault } from './rpc-fault.ts'

/** The endpoints in turn: one is asked until it fails, then the next that is not resting. */
export type Endpoints = {
  readonly all: readonly Endpoint[]
  readonly current: () => Endpoint
  /** One that is not the current one, if there is any. */
  readonly other: () => Endpoint
  /** Decides what a fault means for the endpoint: a smaller range, a rest, the next one. */
  readonly blame: (endpoint: Endpoint, fault: unknown) => void
}

const restMs = { range: 0, late: 0, behind: 200, busy: 1_000, broken: 1_000 } as const

export function openEndpoints(all: readonly Endpoint[], clock: Clock): Endpoints {
  let index = 0
  const leastRest = (candidates: readonly Endpoint[]): Endpoint =>
    candidates.reduce((best, next) =>
      Math.max(next.restsUntilMs(), clock()) < Math.max(best.restsUntilMs(), clock()) ? next : best,
    )
  const inTurn = () => all.map((_, step) => all[(index + step) % all.length]!)
  const current = () => leastRest(inTurn())
  return {
    all,
    current,
    other: () => {
      const others = inTurn().filter((endpoint) => endpoint !== current())
      return others.length === 0 ? current() : leastRest(others)
    },
    blame: (endpoint, fault) => {
      const kind = fault instanceof RpcFault ? fault.kind : 'broken'
      // Even a single block was too much: smaller cannot be asked, so another must answer.
      const smallest = (kind === 'range' || kind === 'late') && endpoint.range().blocks === 1
      if (!smallest && restMs[kind] === 0) return
      endpoint.rest(smallest ? restMs.broken : restMs[kind])
      index = (all.indexOf(endpoint) + 1) % all.length
    },
  }
}
