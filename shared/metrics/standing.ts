import { gauge, type Reading, seconds } from '#shared/metrics/readings'
import { type Limits, limitedStates } from '#shared/overdue'

// Readings that several services have alike.

/** What waits to be published, and what was given up on. */
export const messagingReadings = (figures: {
  waiting: number
  oldestMs: number | null
  dead: number
}): Reading[] => [
  gauge('outbox_messages', 'Messages that wait to be published.', figures.waiting),
  seconds('outbox_oldest_age', 'Age of the oldest of them; 0: none waits.', figures.oldestMs ?? 0),
  gauge(
    'dead_letters',
    'Messages that were given up on, open or asked to be redriven.',
    figures.dead,
  ),
]

/**
 * How long something has been in each state in which something is awaited, by what it is, and how long it may be:
 * one rule of alarm serves all states.
 */
export const stateReadings = <S extends string>(
  limits: Limits<S>,
  agesMs: Readonly<Record<string, number>>,
): Reading[] =>
  limitedStates(limits).flatMap((state) => {
    const limit = limits[state]
    const [age, most] = [
      'Age of what is longest in the state; 0: none.',
      'Age that calls somebody.',
    ]
    return [
      seconds('state_oldest_age', age, agesMs[state], { state }),
      seconds('state_age_limit', most, 'afterMs' in limit ? limit.afterMs : null, { state }),
    ]
  })
