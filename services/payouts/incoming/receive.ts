import { sql } from 'drizzle-orm'
import { ageMs } from '#platform/clock'
import { fromNow } from '#platform/db/columns'
import type { Tx } from '#platform/db/open'
import { flowSeconds, timer } from '#platform/metrics/measures'
import { requestId, withRequestId } from '#platform/request-id'
import { inSpan } from '#platform/tracing/spans'
import { isBooked } from '#shared/ledger/journal.store'
import { PayoutPaid } from '#shared/messages/payouts'
import type { PayoutStatus } from '#shared/provider/payout'
import { ProviderUnknown } from '#shared/provider/problem'
import { findCashout, findPaidAs, lockCashout, recordCashout } from '../cashout.store'
import type { Cashout } from '../cashout.table'
import type { Context } from '../context'
import { type CashoutFacts, decisive, hasFailed, isFollowed, mayBeIts, receivePayoutStatus, type Step } from '../decide'
import { bookFitting, bookOdd } from '../ledger/book'
import { factOf, startReturn, takeStep } from '../onchain/advance'
import type { Evidence, PayoutApi } from '../provider'
import { type AnomalyKind, journal, recordAnomaly } from '../schema.store'

/**
 * Receives evidence about a payout. This is the single entry point for webhooks, payment attempts, rechecks
 * and the transaction list. Throws if the provider gives a payout of ours another reference than before.
 */
export async function receiveEvidence(tx: Tx, context: Context, evidence: Evidence): Promise<Step> {
  const { referenceId, payoutId } = evidence
  // The lock is the first of these statements, so that the others see what its last holder wrote.
  const [cashout, paidAs, wasOdd] = await Promise.all([
    lockCashout(tx, referenceId),
    findPaidAs(tx, payoutId),
    isBooked(tx, journal, payoutId),
  ])
  if (paidAs && paidAs.id !== referenceId)
    throw new ProviderUnknown('the provider returned a payout of ours under another reference')
  if (!cashout) {
    await reportOddity(tx, context, 'payout_unknown', evidence)
    await bookOdd(tx, evidence)
    return { stay: true }
  }
  const words = { attributes: { 'payout.id': cashout.id } }
  return withRequestId(cashout.requestId ?? requestId(), () =>
    inSpan(`cashout ${evidence.status} at the bank`, words, () =>
      receiveOfKnown(tx, context, cashout, evidence, wasOdd),
    ),
  )
}

/**
 * Finds the provider's payouts with our reference. A restored row may not record its attempt, so every API in
 * use is asked. Throws unless each response is conclusive.
 */
export async function findPayouts(context: Context, cashout: Cashout): Promise<readonly Evidence[]> {
  // guard: a payout is looked up under every version of the API that was used before its first order
  const apis = cashout.payoutApi ? [cashout.payoutApi] : context.provider.apis
  const find = (api: PayoutApi) => context.provider.findByReference(cashout.id, api)
  return (await Promise.all(apis.map(find))).flat()
}

/**
 * Returns the payouts that decide. If all named payouts failed and the row has not followed one of them,
 * another payout with our reference may still reach the bank, so all are fetched.
 */
export async function decisiveOf(context: Context, named: readonly Evidence[]): Promise<readonly Evidence[]> {
  const [first] = named
  if (!first || !named.every(hasFailed)) return decisive(named)
  const own = await context.database.read((db) => findCashout(db, first.referenceId))
  // The state of the row is ignored, because it may be `paying` by the time the evidence is received.
  // guard: a failed payout returns nothing before its reference is looked up
  if (!own || (own.providerPayoutId !== null && own.attempts > 0)) return named
  const found = await findPayouts(context, own)
  const isNamed = (one: Evidence) => named.some(({ payoutId }) => payoutId === one.payoutId)
  return decisive([...named, ...found.filter((one) => !isNamed(one))])
}

export const factsOf = ({ provider, clock }: Context, cashout: Cashout): CashoutFacts & Cashout => {
  const { providerStatus, updatedAt } = cashout
  return {
    ...cashout,
    sinceMs: ageMs(updatedAt, clock()),
    lastStatus: providerStatus === null ? null : provider.statusOf(providerStatus),
  }
}

async function receiveOfKnown(
  tx: Tx,
  context: Context,
  cashout: Cashout,
  evidence: Evidence,
  wasOdd: boolean,
): Promise<Step> {
  const facts = factsOf(context, cashout)
  const { lastStatus } = facts
  const step = receivePayoutStatus(facts, evidence)
  const { payoutId, word, failureCode } = evidence
  const { id } = cashout
  if ('odd' in step) {
    await reportOddity(tx, context, step.odd, evidence, id)
    await bookOdd(tx, evidence, cashout)
    // guard: a payout that the provider told of is followed, and none is ordered beside it
    if (!isFollowed(cashout.state) && mayBeIts(facts, evidence)) {
      const isNew = cashout.providerPayoutId !== payoutId
      const differs = step.odd === 'payout_differs'
      const providerStatus = differs ? (isNew ? null : cashout.providerStatus) : word
      recordWord(tx, cashout, { providerPayoutId: payoutId, providerStatus })
    }
    return step
  }
  if (wasOdd) await bookFitting(tx, evidence)
  const said = { providerPayoutId: payoutId, ...newer(cashout, lastStatus, evidence) }
  if ('stay' in step) recordWord(tx, cashout, said)
  else if (step.next === 'paid') becomePaid(tx, context, cashout, said)
  else {
    const because = { reason: step.reason, failureCode: failureCode ?? word }
    startReturn(tx, context, cashout, because, { changes: said })
  }
  return step
}

type Said = { providerPayoutId: string; providerStatus?: string | null }

/** Records what the provider said, if it is news: webhooks and rechecks repeat it several times for each cash-out. */
function recordWord(tx: Tx, cashout: Cashout, said: Said): void {
  const { providerPayoutId, providerStatus } = { ...cashout, ...said }
  if (providerPayoutId === cashout.providerPayoutId && providerStatus === cashout.providerStatus) return
  recordCashout(tx, cashout.id, said)
}

function becomePaid(tx: Tx, { recheckAfterMs, clock, log }: Context, before: Cashout, said: Said): void {
  const changes = { ...said, paidAt: sql`now()`, nextCheckAt: fromNow(recheckAfterMs) }
  takeStep(tx, before, 'paid', changes, [factOf(PayoutPaid, before)])
  payments.seconds(ageMs(before.createdAt, clock()) / 1_000, {})
  log.info({ payoutId: before.id }, 'cash-out paid')
}

const payments = timer({
  what: 'cashout_created_to_paid',
  help: "Time from the cash-out request to the provider's confirmation of payment, in seconds.",
  labels: {},
  buckets: flowSeconds,
})

/** Returns the change of the stored status. An outdated response does not overwrite a final status. */
const newer = ({ state }: Cashout, last: PayoutStatus | null, { status, word }: Evidence) =>
  last === 'reversed' || (status === 'pending' && state !== 'paying') ? {} : { providerStatus: word }

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
  if (first) log.alarm({ kind, object, payoutId, says }, 'unexpected payout at provider')
}
