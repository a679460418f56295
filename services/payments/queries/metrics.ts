import { each, gauge, type Metric, messagingReadings, seconds } from '#platform/metrics/metric'
import { stateReadings } from '#platform/metrics/state-limits'
import type { Context } from '../context'
import { limits } from '../payment'
import { readStats } from './activity'

type Figures = Awaited<ReturnType<typeof readStats>>

export const metricsOf = (context: Context, lowMicro: bigint) => ({
  stats: () => readStats(context),
  readings: (figures: Figures) => [...paymentReadings(figures), ...coverReadings(figures.cover, Number(lowMicro))],
})

const paymentReadings = (figures: Figures): Metric[] => {
  const { inFlight, awaitingPayment, onHold, inReview } = figures
  const standings = {
    in_flight: inFlight,
    awaiting_payment: awaitingPayment,
    on_hold: onHold,
    in_review: inReview,
  }
  const [age, list] = [
    'provider_list_age',
    "Age of the last complete reading of the provider's transaction list, in seconds.",
  ]
  return [
    ...messagingReadings({
      waiting: figures.outboxWaiting,
      oldestMs: figures.outboxOldestMs,
      dead: figures.deadLetters,
    }),
    ...stateReadings(limits, figures.oldestMs),
    ...each(standings, 'state', (count, labels) => gauge('payments', 'Open payments, by stage.', count, labels)),
    seconds(
      'payments_in_flight_oldest_age',
      'Age of the oldest paid payment not yet on chain, in seconds; 0 if none.',
      figures.oldestInFlightMs ?? 0,
    ),
    gauge('wallets_frozen', 'Wallets frozen for reversal losses.', figures.frozenWallets),
    gauge('reversal_losses_micro', 'Outstanding reversal losses, in micro-AUSD.', Number(figures.missingMicro)),
    seconds(age, list, figures.listAgeMs, { list: 'recent' }),
    seconds(age, list, figures.latestListAgeMs, { list: 'latest' }),
  ]
}

const coverReadings = (cover: Figures['cover'], lowMicro: number): Metric[] => [
  gauge('treasury_balance_micro', 'Treasury balance, in micro-AUSD.', cover?.treasuryMicro),
  gauge(
    'treasury_allowance_micro',
    'Treasury allowance granted to the credit line, in micro-AUSD.',
    cover?.drawableMicro,
  ),
  gauge('treasury_owed_micro', 'Treasury AUSD owed to cash-outs, in micro-AUSD.', cover?.owedToCashoutsMicro),
  gauge('treasury_promised_micro', 'Treasury AUSD committed to payments, in micro-AUSD.', cover?.promisedMicro),
  gauge(
    'treasury_free_micro',
    'Uncommitted treasury AUSD, available for new top-ups, in micro-AUSD.',
    cover?.freeMicro,
  ),
  gauge(
    'treasury_low',
    '1 if uncommitted treasury AUSD is below TREASURY_LOW_AUSD.',
    cover && Number(cover.freeMicro < lowMicro),
  ),
  seconds('treasury_reading_age', 'Age of the last treasury reading, in seconds.', cover?.treasuryAgeMs),
]
