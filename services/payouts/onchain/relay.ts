import { sql } from 'drizzle-orm'
import { type Reaction, reactTo } from '#platform/bus/reaction'
import { ageMs } from '#platform/clock'
import { fromNow } from '#platform/db/columns'
import type { Tx } from '#platform/db/open'
import { PayoutReturned, PayoutTaken } from '#shared/messages/payouts'
import { relayFailed, relaySettled } from '#shared/messages/relay'
import { type Reason, takeReasonFrom } from '../cashout'
import {
  findCashout,
  lockAccount,
  lockAllCashouts,
  lockCashout,
  lockClosedMarket,
  moveCashout,
  recordCashout,
  sumAllOfDay,
  sumClosedOfDay,
  sumDayTo,
} from '../cashout.store'
import type { Cashout } from '../cashout.table'
import type { Context } from '../context'
import { decisive, lateMs, mayArriveLate, mayBePaid, receiveTaken } from '../decide'
import { factsOf, findPayouts, receiveEvidence } from '../incoming/receive'
import type { Evidence } from '../provider'
import type { DetailsSafe } from '../request/bank'
import { recordAnomaly } from '../schema.store'
import { factOf, startReturn, takeStep } from './advance'

/** Returns the reactions to the relayer's reports, which come at finality. */
export const relayReactions = (context: Context): Reaction[] => [
  reactTo(relaySettled('take'), {
    // guard: AUSD that arrives late is returned only after its payout was looked for
    find: ({ cause }) => findBeforeReturn(context, cause),
    apply: async (tx, { cause, txHash }, found: readonly Evidence[]) => {
      for (const evidence of found) await receiveEvidence(tx, context, evidence)
      await taken(tx, context, cause, txHash)
    },
  }),
  reactTo(relayFailed('take'), {
    apply: (tx, { cause, reason }) => takeFailed(tx, context, cause, reason),
  }),
  reactTo(relaySettled('return'), {
    apply: (tx, { cause, txHash }) => returned(tx, context, cause, txHash),
  }),
  reactTo(relayFailed('return'), {
    apply: (tx, { cause, reason }) => returnFailed(tx, context, cause, reason),
  }),
]

/**
 * Finds payouts before AUSD is returned: it came late, or that of a contract wallet may exceed a limit. A row from a backup,
 * which is old, may have been paid since, and its AUSD must then stay.
 */
async function findBeforeReturn(context: Context, id: string): Promise<readonly Evidence[]> {
  const cashout = await context.database.read((db) => findCashout(db, id))
  if (!cashout) return []
  const step = receiveTaken(cashout.state)
  if (!('next' in step)) return []
  const lookUp = async () => decisive(await findPayouts(context, cashout))
  if (step.next === 'returning') return lookUp()
  // guard: AUSD above a limit is returned only after its payout was looked for
  if (cashout.signedByContract && ageMs(cashout.createdAt, context.clock()) > lateMs) return lookUp()
  return []
}

/**
 * Records that the AUSD was taken. The cash-out is then due at once: `recheck.ts` wakes after the commit and
 * pays.
 */
async function taken(tx: Tx, context: Context, id: string, txHash: string | null): Promise<void> {
  const { log } = context
  const cashout = await lockCashout(tx, id)
  if (!cashout) return log.alarm({ payoutId: id, txHash }, 'AUSD taken for unknown cash-out')
  const step = receiveTaken(cashout.state)
  if ('stay' in step) return
  const isPaid = mayBePaid(factsOf(context, cashout))
  if (step.next === 'returning' && isPaid) {
    const { state } = cashout
    log.alarm({ payoutId: id, txHash, state }, 'AUSD kept, as its payout exists')
    return
  }
  const arrival = { changes: { takeTxHash: txHash }, messages: [factOf(PayoutTaken, cashout)] }
  const over = step.next === 'taken' && !isPaid ? await limitOver(tx, context, cashout) : undefined
  if (over) {
    startReturn(tx, context, cashout, { reason: over, failureCode: null }, arrival)
    return
  }
  if (step.next === 'taken') {
    takeStep(tx, cashout, 'taken', { ...arrival.changes, nextCheckAt: sql`now()` }, arrival.messages)
    return log.info({ payoutId: id, txHash }, 'cash-out AUSD taken')
  }
  log.warn({ payoutId: id, txHash }, 'AUSD arrived after cash-out failed')
  startReturn(tx, context, cashout, { reason: step.reason, failureCode: null }, arrival)
}

/**
 * Returns the limit that arriving AUSD exceeds, on the day on which its cash-out was asked for. That of a contract wallet counts
 * for its bank account, for all cash-outs of a closed market, and for all wallets together, from its arrival on.
 */
async function limitOver(
  tx: Tx,
  { safe, dayMicroMax, closedMicroMax, allDayMicroMax }: Context,
  cashout: Cashout,
): Promise<Reason | undefined> {
  const { signedByContract, accountMark, ausdMicro, spreadBps, wallet } = cashout
  if (!signedByContract) return undefined
  if (accountMark !== null) {
    const marks = marksOf(safe, cashout)
    lockAccount(tx, marks[0]!)
    const ofAccount = await sumDayTo(tx, marks, cashout)
    // guard: a bank account's cash-outs of contract wallets are counted when their AUSD arrives
    if (ofAccount.micro + ausdMicro > dayMicroMax) return 'account_limit'
  }
  if (spreadBps < 0) {
    lockClosedMarket(tx)
    const closed = await sumClosedOfDay(tx, wallet, cashout)
    // guard: cash-outs of contract wallets while the market is closed are counted when their AUSD arrives
    if (closed.ofAll + ausdMicro > closedMicroMax.ofAll) return 'closed_market_limit'
  }
  if (allDayMicroMax === null) return undefined
  lockAllCashouts(tx)
  // guard: cash-outs of contract wallets count for the limit of all wallets when their AUSD arrives
  if ((await sumAllOfDay(tx, cashout)) + ausdMicro > allDayMicroMax) return 'limit_of_all'
  return undefined
}

/** Returns the marks of the bank account under every key, because other cash-outs of the day may have one of before a rotation. */
function marksOf(safe: DetailsSafe, { id, channelCode, bankDetails: box, bankDetailsKeyId: keyId }: Cashout) {
  const { accountNumber } = safe.open({ keyId, box }, id)
  return safe.marksOf({ channelCode, accountNumber })
}

async function takeFailed(tx: Tx, context: Context, id: string, word: string): Promise<void> {
  const { recheckAfterMs, log } = context
  const reason = takeReasonFrom(word)
  const nextCheckAt = mayArriveLate(reason) ? fromNow(recheckAfterMs) : null
  const failed = await moveCashout(tx, id, 'failed', { reason, nextCheckAt })
  if (failed) log.info({ payoutId: id, reason, word }, 'cash-out failed, no AUSD taken')
}

async function returned(tx: Tx, { log }: Context, id: string, txHash: string | null): Promise<void> {
  const cashout = await lockCashout(tx, id)
  if (cashout?.state !== 'returning') return
  takeStep(tx, cashout, 'returned', { returnTxHash: txHash, nextCheckAt: null }, [factOf(PayoutReturned, cashout)])
  log.info({ payoutId: id, txHash }, 'cash-out AUSD returned')
}

async function returnFailed(tx: Tx, { log }: Context, id: string, reason: string): Promise<void> {
  const anomaly = { kind: 'return_failed', object: id, payoutId: id, says: reason } as const
  const first = await recordAnomaly(tx, anomaly)
  // The cash-out stays `returning`: we still owe the AUSD, and a retry would fail too.
  recordCashout(tx, id, { nextCheckAt: null })
  if (first) log.alarm({ payoutId: id, reason }, 'AUSD return failed permanently')
}
