import type { Clock } from '#shared/clock'
import { type Log, openLogThrottled } from '#shared/log'
import { type Loop, startLoop } from '#shared/loop'

// How long each state of a lifecycle may last is one table beside it: the alarms, the figures in
// `/metrics` and the runbook, infra/README.md, all go by it.

/** After so long in this state somebody is called, by this line of the log. */
export type Limit = { readonly afterMs: number; readonly alarm: string }
/** Nothing is awaited in this state: why. */
export type Rest = { readonly rests: string }
export type Limits<S extends string> = { readonly [state in S]: Limit | Rest }

/** How many wait in a state, and the one that has waited longest. */
export type Oldest<S extends string = string> = {
  readonly state: S
  readonly count: number
  readonly oldestMs: number
  readonly id: string
}

/** The states in which something is awaited. */
export const limitedStates = <S extends string>(limits: Limits<S>): S[] =>
  (Object.keys(limits) as S[]).filter((state) => 'alarm' in limits[state])

/** What has lasted for too long, with the line that calls somebody. */
export const overdueAmong = <S extends string>(
  limits: Limits<S>,
  oldest: readonly Oldest<S>[],
): (Oldest<S> & Limit)[] =>
  oldest.flatMap((one) => {
    const limit: Limit | Rest = limits[one.state]
    return 'alarm' in limit && one.oldestMs > limit.afterMs ? [{ ...one, ...limit }] : []
  })

/** The age of the oldest in each state in which something is awaited, in ms; 0: there is none. */
export const agesOf = <S extends string>(
  limits: Limits<S>,
  oldest: readonly Oldest<S>[],
): Record<string, number> =>
  Object.fromEntries(
    limitedStates(limits).map((state) => [
      state,
      Math.round(oldest.find((one) => one.state === state)?.oldestMs ?? 0),
    ]),
  )

const everyMs = 30_000
/** What stays overdue calls again after so long; another one that becomes the oldest calls at once. */
const againMs = 3_600_000

/** Calls somebody for what has lasted for too long, every 30 s until disposed. */
export function watchOverdue<S extends string>(options: {
  log: Log
  clock: Clock
  limits: Limits<S>
  read: () => Promise<readonly Oldest<S>[]>
}): Loop {
  const { log, clock, limits, read } = options
  const call = openLogThrottled(log, clock, againMs)
  const work = async () => {
    for (const { alarm, ...fields } of overdueAmong(limits, await read()))
      call(`${fields.state}:${fields.id}`, { ...fields, alarm: true }, alarm)
  }
  return startLoop({ name: 'overdue', everyMs, log, work })
}
