import { sql } from 'drizzle-orm'
import { type Reaction, reactTo } from '#shared/bus/reaction'
import type { Tx } from '#shared/db/open'
import type { Log } from '#shared/log'
import { PayoutReturned, PayoutTaken } from '#shared/messages/payouts'
import { relayFailed, relaySettled } from '#shared/messages/relay'
import { recordAnomaly } from './anomaly.store.ts'
import { lockCashout, moveCashout, noteCashout } from './cashout.store.ts'
import { receiveTaken } from './cashout.ts'
import { mayArriveLate, takeReasonFrom } from './reason.ts'
import { announceFact, soon, startReturn, type Waits } from './status.store.ts'

export type RelayDesk = Waits & { log: Log }

/** What the chain says, finally. A taken cash-out is due at once: the sweeper is poked and pays. */
export const relayReactions = (desk: RelayDesk): Reaction[] => [
  reactTo(relaySettled('take'), {
    apply: (tx, { cause, txHash }) => taken(tx, desk, cause, txHash),
  }),
  reactTo(relayFailed('take'), {
    apply: async (tx, { cause, reason: word }) => {
      const reason = takeReasonFrom(word)
      const lookAt = mayArriveLate(reason) ? soon(desk) : null
      const failed = await moveCashout(tx, cause, 'failed', { reason, lookAt })
      if (failed)
        desk.log.info({ payoutId: cause, reason, word }, 'payout failed, nothing was taken')
    },
  }),
  reactTo(relaySettled('return'), {
    apply: async (tx, { cause, txHash }) => {
      const change = { returnTxHash: txHash, lookAt: null }
      const returned = await moveCashout(tx, cause, 'returned', change)
      if (!returned) return
      await announceFact(tx, PayoutReturned, returned)
      desk.log.info({ payoutId: cause, txHash }, 'payout returned')
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
      if (first) desk.log.error({ payoutId: cause, reason, alarm: true }, 'return failed for good')
    },
  }),
]

/** The AUSD is in the treasury: it is paid, or goes back when the cash-out had failed before. */
async function taken(tx: Tx, desk: RelayDesk, id: string, txHash: string | null): Promise<void> {
  const cashout = await lockCashout(tx, id)
  if (!cashout)
    return desk.log.error({ payoutId: id, txHash, alarm: true }, 'taken for an unknown payout')
  const step = receiveTaken(cashout.state)
  if ('stay' in step) return
  await announceFact(tx, PayoutTaken, cashout)
  if (step.next === 'taken') {
    await moveCashout(tx, id, 'taken', { takeTxHash: txHash, lookAt: sql`now()` })
    return desk.log.info({ payoutId: id, txHash }, 'payout taken')
  }
  desk.log.warn({ payoutId: id, txHash }, 'AUSD arrived after the cash-out had failed')
  await noteCashout(tx, id, { takeTxHash: txHash })
  await startReturn(tx, id, { reason: step.reason, failureCode: null }, desk)
}
