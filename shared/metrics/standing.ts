import { gauge, type Reading, seconds } from '#shared/metrics/readings'
import { type Limits, limitedStates } from '#shared/overdue'

// Readings common to several services.

/** Returns readings of the outbox and of dead letters. */
export const messagingReadings = (figures: {
  waiting: number
  oldestMs: number | null
  dead: number
}): Reading[] => [
  gauge('outbox_messages', 'Unpublished messages in the outbox.', figures.waiting),
  seconds(
    'outbox_oldest_age',
    'Age of the oldest unpublished message, in seconds; 0 if none.',
    figures.oldestMs ?? 0,
  ),
  gauge('dead_letters', 'Dead letters that are open or waiting for a redrive.', figures.dead),
]

/**
 * Returns the age of the oldest item per state, and its limit, so that one alert rule covers all
 * states.
 */
export const stateReadings = <S extends string>(
  limits: Limits<S>,
  agesMs: Readonly<Record<string, number>>,
): Reading[] =>
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
