import type { AlarmLine } from '#platform/alarm-lines'
import type { Clock } from '#platform/clock'
import { type Log, openLogThrottled } from '#platform/log'
import { type Loop, startLoop } from '#platform/loop'
import { type Metric, seconds } from '#platform/metrics/metric'

// Each state's limit is declared once, next to its lifecycle. Alarms, `/metrics`, timelines and the runbook use it.

type Awaits = {
  /** What an item in the state waits for, as operators read it; omitted if it may be final. */
  readonly awaits?: string
}
/** A limit, which raises an alarm with this log line after this long in the state. */
export type Limit = Awaits & {
  readonly afterMs: number
  readonly alarm: AlarmLine
  /** Steps for an operator after the alarm, as Markdown of the runbook. */
  readonly steps: string
}
/** A state without a time limit, with the reason for that. */
export type Rest = Awaits & { readonly rests: string }
export type Limits<S extends string> = { readonly [state in S]: Limit | Rest }

export type Oldest<S extends string = string> = {
  readonly state: S
  readonly count: number
  readonly oldestMs: number
  readonly id: string
}

export const limitedStates = <S extends string>(limits: Limits<S>): S[] =>
  (Object.keys(limits) as S[]).filter((state) => 'alarm' in limits[state])

export const overdueAmong = <S extends string>(
  limits: Limits<S>,
  oldest: readonly Oldest<S>[],
): (Oldest<S> & Pick<Limit, 'afterMs' | 'alarm'>)[] =>
  oldest.flatMap((one) => {
    const limit: Limit | Rest = limits[one.state]
    if (!('alarm' in limit) || one.oldestMs <= limit.afterMs) return []
    return [{ ...one, afterMs: limit.afterMs, alarm: limit.alarm }]
  })

/** Returns the age of the oldest item per state in ms, or 0 if there is none. */
export const agesOf = <S extends string>(limits: Limits<S>, oldest: readonly Oldest<S>[]): Record<string, number> =>
  Object.fromEntries(
    limitedStates(limits).map((state) => [state, Math.round(oldest.find((one) => one.state === state)?.oldestMs ?? 0)]),
  )

/** Returns ages together with the limits, so that one alert rule covers all states. */
export const stateReadings = <S extends string>(
  limits: Limits<S>,
  agesMs: Readonly<Record<string, number>>,
): Metric[] =>
  limitedStates(limits).flatMap((state) => {
    const limit = limits[state]
    const [age, most] = [
      'Age of the oldest item in the state, in seconds; 0 if none.',
      'Age that raises an alert, in seconds.',
    ]
    return [
      seconds('state_oldest_age', age, agesMs[state], { state }),
      seconds('state_age_limit', most, 'afterMs' in limit ? limit.afterMs : null, { state }),
    ]
  })

const everyMs = 30_000
/** Time in ms until an alarm about the same item is repeated. A different oldest item raises one at once. */
const againMs = 3_600_000

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
      call.alarm(`${fields.state}:${fields.id}`, fields, alarm)
  }
  return startLoop({ name: 'overdue', everyMs, log, work })
}
