import { each, gauge, type Reading, seconds } from '#shared/metrics/readings'
import { messagingReadings, stateReadings } from '#shared/metrics/standing'
import { readStats } from './activity/activity'
import type { Context } from './context'
import { limits } from './payment'

type Figures = Awaited<ReturnType<typeof readStats>>

/** What this service says of itself: to `nats micro stats`, and to `/metrics`. */
export const figuresOf = (context: Context) => ({ stats: () => readStats(context), readings })

/** The figures of payments as `/metrics` shows them; AUSD in its smallest unit. */
const readings = (figures: Figures): Reading[] => {
  const { inFlight, awaitingPayment, onHold, inReview } = figures
  const standings = {
    ...{ in_flight: inFlight, awaiting_payment: awaitingPayment },
    ...{ on_hold: onHold, in_review: inReview },
  }
  const [age, list] = ['provider_list_age', 'How long ago the list of transactions was read.']
  return [
    ...messagingReadings({
      ...{ waiting: figures.outboxWaiting, oldestMs: figures.outboxOldestMs },
      dead: figures.deadLetters,
    }),
    ...stateReadings(limits, figures.oldestMs),
    ...each(standings, 'standing', (count, labels) =>
      gauge('payments', 'Payments that are open, by where they stand.', count, labels),
    ),
    seconds(
      'payments_in_flight_oldest_age',
      'Since when the oldest paid one is without effect on the chain; 0: there is none.',
      figures.oldestInFlightMs ?? 0,
    ),
    gauge('wallets_frozen', 'Wallets that have a loss to make good.', figures.frozenWallets),
    gauge(
      'losses_micro',
      'What they have to make good, in 10^-6 AUSD.',
      Number(figures.missingMicro),
    ),
    seconds(age, list, figures.listAgeMs, { list: 'whole' }),
    seconds(age, list, figures.latestListAgeMs, { list: 'latest' }),
    ...coverReadings(figures.cover),
  ]
}

/** Absent before the treasury was first read. */
const coverReadings = (cover: Figures['cover']): Reading[] => [
  gauge('treasury_balance_micro', 'AUSD of the treasury, in 10^-6.', cover?.treasuryMicro),
  gauge('treasury_drawable_micro', 'Of it what the contract may take.', cover?.drawableMicro),
  gauge('treasury_owed_micro', 'Of it what cash-outs may get back.', cover?.owedToCashoutsMicro),
  gauge('treasury_promised_micro', 'Of it what payments may still take.', cover?.promisedMicro),
  gauge('treasury_free_micro', 'What is left for new top-ups.', cover?.freeMicro),
  seconds('treasury_reading_age', 'How long ago it was read.', cover?.treasuryAgeMs),
]
