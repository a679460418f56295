import { each, gauge, type Metric, messagingReadings, seconds } from '#platform/metrics/metric'
import { stateReadings } from '#platform/metrics/state-limits'
import { inFlightStates, limits } from '../cashout'
import type { Context } from '../context'
import { readStats } from './activity'

type Figures = Awaited<ReturnType<typeof readStats>>

export const metricsOf = (context: Context, { balanceLowIdr }: { balanceLowIdr: bigint }) => ({
  stats: () => readStats(context),
  readings: (figures: Figures) => [...readings(figures), lowReading(figures, balanceLowIdr)],
})

const lowReading = ({ cover }: Figures, lowMinor: bigint): Metric =>
  gauge(
    'provider_low',
    '1 if the uncommitted provider balance is below BALANCE_LOW_IDR.',
    cover && Number(cover.freeMinor < Number(lowMinor)),
  )

const noneIn = Object.fromEntries(inFlightStates.map((state) => [state, 0]))

const readings = (figures: Figures): Metric[] => [
  ...messagingReadings({
    waiting: figures.outboxWaiting,
    oldestMs: figures.outboxOldestMs,
    dead: figures.deadLetters,
  }),
  ...stateReadings(limits, figures.oldestMs),
  ...each({ ...noneIn, ...figures.states }, 'state', (count, labels) =>
    gauge('cashouts', 'Cash-outs in progress, by state.', count, labels),
  ),
  seconds(
    'cashouts_in_flight_oldest_age',
    'Age of the oldest cash-out in progress, in seconds; 0 if none.',
    figures.oldestInFlightMs,
  ),
  gauge('payout_anomalies', 'Recorded payout anomalies.', figures.anomalies),
  seconds(
    'provider_list_age',
    "Age of the last complete reading of the provider's transaction list, in seconds.",
    figures.listAgeMs,
    {
      list: 'recent',
    },
  ),
  gauge('provider_balance_minor', 'Balance at the provider, in rupiah.', figures.cover?.balanceMinor),
  gauge(
    'provider_unpaid_minor',
    'Provider balance committed to unpaid cash-outs, in rupiah.',
    figures.cover?.unpaidMinor,
  ),
  gauge(
    'provider_free_minor',
    'Uncommitted provider balance, available for new cash-outs, in rupiah.',
    figures.cover?.freeMinor,
  ),
  seconds('provider_reading_age', 'Age of the last provider balance reading, in seconds.', figures.cover?.balanceAgeMs),
]
