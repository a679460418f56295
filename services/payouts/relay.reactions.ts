import { sql } from 'drizzle-orm'
import { type Reaction, reactTo } from '#shared/bus/reaction'
import type { Log } from '#shared/log'
import { PayoutReturned, PayoutTaken } from '#shared/messages/payouts'
import { relayFailed, relaySettled } from '#shared/messages/relay'
import { recordAnomaly } from './anomaly.store.ts'
import { moveCashout, noteCashout } from './cashout.store.ts'
import { takeReasonFrom } from './reason.ts'
import { announceFact } from './status.store.ts'

/** What the chain says, finally. A taken cash-out is due at once: the sweeper is poked and pays. */
export const relayReactions = (log: Log): Reaction[] => [
  reactTo(relaySettled('take'), {
    apply: async (tx, { cause, txHash }) => {
      const taken = await moveCashout(tx, cause, 'taken', {
        takeTxHash: txHash,
        lookAt: sql`now()`,
      })
      if (!taken) return
      await announceFact(tx, PayoutTaken, taken)
      log.info({ payoutId: cause, txHash }, 'payout taken')
    },
  }),
  reactTo(relayFailed('take'), {
    apply: async (tx, { cause, reason: word }) => {
      const reason = takeReasonFrom(word)
      const failed = await moveCashout(tx, cause, 'failed', { reason, lookAt: null })
      if (failed) log.info({ payoutId: cause, reason, word }, 'payout failed, nothing was taken')
    },
  }),
  reactTo(relaySettled('return'), {
    apply: async (tx, { cause, txHash }) => {
      const change = { returnTxHash: txHash, lookAt: null }
      const returned = await moveCashout(tx, cause, 'returned', change)
      if (!returned) return
      await announceFact(tx, PayoutReturned, returned)
      log.info({ payoutId: cause, txHash }, 'payout returned')
    },
  }),
  reactTo(relayFailed('return'), {
    apply: async (tx, { cause, reason }) => {
      const anomaly = {
        kind: 'return_failed',
        object: cause,
        payoutId: cause,
        says: reason,
      } as const
      const first = await recordAnomaly(tx, anomaly)
      // It stays `returning`: we still owe it, and asking again would get the same answer.
      await noteCashout(tx, cause, { lookAt: null })
      if (first) log.error({ payoutId: cause, reason, alarm: true }, 'return failed for good')
    },
  }),
]
