import { sql } from 'drizzle-orm'
import { fromNow } from '#shared/db/columns'
import type { Tx } from '#shared/db/open'
import { PayoutPaid } from '#shared/messages/payouts'
import { flowSeconds, timer } from '#shared/metrics/measures'
import { requestId, withRequestId } from '#shared/request-id'
import { inSpan } from '#shared/tracing/spans'
import { announceFact, startReturn, takeStep } from './advance'
import { bookFitting, bookOdd } from './books/book'
import { apiOf, type Cashout, findCashout, lockCashout, noteCashout } from './cashout.store'
import type { Context } from './context'
import { decisive, hasFailed, receivePayoutStatus, type Step } from './decide'
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
  const words = { attributes: { 'payout.id': cashout.id } }
  return withRequestId(cashout.requestId ?? requestId(), () =>
    inSpan(`cashout ${evidence.status} at the bank`, words, () =>
      receiveOfKnown(tx, context, cashout, evidence),
    ),
  )
}

/**
 * Of payouts that were named those that decide. When all failed, and ours is not known yet, another
 * one of our reference may still reach the bank: then the provider is asked for all of them.
 */
export async function decisiveOf(
  { database, provider }: Context,
  named: readonly Evidence[],
): Promise<readonly Evidence[]> {
  const [first] = named
  if (!first || !named.every(hasFailed)) return decisive(named)
  const own = await database.read((db) => findCashout(db, first.referenceId))
  // Whatever its state: it may be paid by the time the evidence is received.
  if (own?.providerPayoutId !== null) return named
  const found = await provider.findByReference(own.id, apiOf(own, provider.api))
  const isNamed = (one: Evidence) => named.some(({ payoutId }) => payoutId === one.payoutId)
  return decisive([...named, ...found.filter((one) => !isNamed(one))])
}

async function receiveOfKnown(
  tx: Tx,
  context: Context,
  cashout: Cashout,
  evidence: Evidence,
): Promise<Step> {
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
  payments.seconds((paid.paidAt!.getTime() - paid.createdAt.getTime()) / 1_000, {})
  log.info({ payoutId: id }, 'cash-out paid')
}

const payments = timer({
  what: 'cashout_created_to_paid',
  help: 'From the cash-out to the bank being paid, as the provider says.',
  labels: {},
  buckets: flowSeconds,
})

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
  if (first) log.error({ kind, object, payoutId, says, alarm: true }, 'unexpected payout at provider')
}
