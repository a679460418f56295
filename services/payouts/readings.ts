import { each, gauge, type Reading, seconds } from '#shared/metrics/readings'
import { messagingReadings, stateReadings } from '#shared/metrics/standing'
import { readStats } from './activity'
import { inFlightStates, limits } from './cashout'
import type { Context } from './context'

type Figures = Awaited<ReturnType<typeof readStats>>

/** What this service says of itself: to `nats micro stats`, and to `/metrics`. */
export const figuresOf = (context: Context) => ({ stats: () => readStats(context), readings })

/** So that a state in which nothing is shows as 0. */
const noneIn = Object.fromEntries(inFlightStates.map((state) => [state, 0]))

/** The figures of payouts as `/metrics` shows them; rupiah whole, as they have no smaller unit. */
const readings = (figures: Figures): Reading[] => [
  ...messagingReadings({
    ...{ waiting: figures.outboxWaiting, oldestMs: figures.outboxOldestMs },
    dead: figures.deadLetters,
  }),
  ...stateReadings(limits, figures.oldestMs),
  ...each({ ...noneIn, ...figures.states }, 'state', (count, labels) =>
    gauge('cashouts', 'Cash-outs under way, by state.', count, labels),
  ),
  seconds(
    'cashouts_in_flight_oldest_age',
    'Since when the oldest one is under way; 0: there is none.',
    figures.oldestInFlightMs,
  ),
  gauge('payout_anomalies', 'What was odd and a person looked at, or should.', figures.anomalies),
  seconds(
    'provider_list_age',
    'How long ago the list of transactions was read.',
    figures.listAgeMs,
    {
      list: 'whole',
    },
  ),
  gauge('provider_balance_minor', 'Rupiah at the provider.', figures.cover?.balanceMinor),
  gauge(
    'provider_unpaid_minor',
    'Of it what cash-outs may still take.',
    figures.cover?.unpaidMinor,
  ),
  gauge('provider_free_minor', 'What is left for new cash-outs.', figures.cover?.freeMinor),
  seconds('provider_reading_age', 'How long ago it was read.', figures.cover?.balanceAgeMs),
]
