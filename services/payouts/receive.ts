import { sql } from 'drizzle-orm'
import { fromNow } from '#shared/db/columns'
import type { Tx } from '#shared/db/open'
import { PayoutPaid } from '#shared/messages/payouts'
import { announceFact, startReturn, takeStep } from './advance'
import { bookFitting, bookOdd } from './books/book'
import { type Cashout, lockCashout, noteCashout } from './cashout.store'
import type { Context } from './context'
import { receivePayoutStatus, type Step } from './decide'
import type { Evidence, PayoutStatus } from './provider'
import { type AnomalyKind, recordAnomaly } from './schema.store'

/**
 * Receives what the provider says about a payout: webhooks, attempts to pay, rechecks and the list
 * of transactions all end here.
 */
export async function receiveEvidence(tx: Tx, context: Context, evidence: Evidence): Promise<Step> {
  const cashout = await lockCashout(tx, evidence.referenceId)
  if (!cashout) {
    await reportOddity(tx, context, 'payout_unknown', evidence)
    await bookOdd(tx, evidence)
    return { stay: true }
  }
  const { providerStatus } = cashout
  const lastStatus = providerStatus === null ? null : context.provider.statusOf(providerStatus)
  const step = receivePayoutStatus({ ...cashout, lastStatus }, evidence)
  if ('odd' in step) {
    await reportOddity(tx, context, step.odd, evidence, cashout.id)
    await bookOdd(tx, evidence, cashout)
    return step
  }
  const { payoutId, word, failureCode } = evidence
  const { id } = cashout
  // It may not have fitted before: ordered by another hand, or refused after it was paid.
  if (cashout.providerPayoutId === null || cashout.state !== 'paying')
    await bookFitting(tx, evidence)
  await noteCashout(tx, id, { providerPayoutId: payoutId, ...newer(cashout, lastStatus, evidence) })
  if ('stay' in step) return step
  if (step.next === 'paid') await becomePaid(tx, context, cashout)
  else
    await startReturn(tx, context, cashout, {
      reason: step.reason,
      failureCode: failureCode ?? word,
    })
  return step
}

async function becomePaid(tx: Tx, { sweepAfterMs, log }: Context, before: Cashout): Promise<void> {
  const { id } = before
  const change = { paidAt: sql`now()`, nextCheckAt: fromNow(sweepAfterMs) }
  const paid = await takeStep(tx, before, 'paid', change)
  if (!paid) return
  await announceFact(tx, PayoutPaid, paid)
  log.info({ payoutId: id }, 'payout paid')
}

/** A final status is not overwritten by an older answer. */
const newer = ({ state }: Cashout, last: PayoutStatus | null, { status, word }: Evidence) =>
  last === 'reversed' || (status === 'pending' && state !== 'paying')
    ? {}
    : { providerStatus: word }

async function reportOddity(
  tx: Tx,
  { log }: Context,
  kind: AnomalyKind,
  evidence: Evidence,
  payoutId?: string,
): Promise<void> {
  const says = `${evidence.word} ${evidence.currency} ${evidence.amountMinor ?? '?'}`
  const object = evidence.payoutId
  const first = await recordAnomaly(tx, { kind, object, says, ...(payoutId ? { payoutId } : {}) })
  if (first) log.error({ kind, object, payoutId, says, alarm: true }, 'payout does not fit')
}
