import { createHash } from 'node:crypto'
import { unlockBeforeSync } from '#platform/db/lock'
import type { Tx } from '#platform/db/open'
import { pause, within } from '#platform/deadline'
import { failpoint } from '#platform/failpoint'
import { requestId } from '#platform/request-id'
import { idFor } from '#shared/ids'
import { QuoteFind, QuoteTake } from '#shared/messages/pricing'
import { accountFor, type Pair } from '#shared/money/pair'
import { quotedTopupFees, topupFeesText } from '#shared/money/topup-fee'
import { type Answer, ok, refuse } from '#shared/refusals'
import { askDeadlineMs, askOr, type Context } from '../context'
import { nextCheck, reopenMaxMs } from '../decide'
import { expire } from '../onchain/advance'
import type { PaymentKind } from '../payment'
import { findByQuote, insertPayment, leaseOpening, lockPayment } from '../payment.store'
import type { NewPayment, PaymentRow } from '../payment.table'
import { limitTopup, type Method, type PaymentTerms } from '../price'
import type { TreasuryCover } from '../treasury/cover'
import { fitsLimitOfAll } from '../treasury/limit-of-all'
import { coverTopup, lockFree } from '../treasury/reserve'
import { sumTopups } from '../treasury/sums.store'
import { openCheckout, type PaymentResult, releaseOpening, resultOf } from './provider-checkout'
import { replaceEarlier } from './replace'

// The row is stored with limits and cover checked before its quote is taken, so that the promise counts from
// then on. A refusal before the row is stored changes nothing; a refusal of the quote ends the row.

export type CheckoutRequest = {
  readonly kind: PaymentKind
  readonly wallet: `0x${string}`
  readonly quoteId: string
  readonly method: Method | null
  /** Hash of the request, which tells a retry from another request with the same quote. */
  readonly requestFingerprint: string
}

type Rate = Pick<PaymentTerms, 'pair' | 'rateMinorPerUsd'> & Pick<PaymentRow, 'spreadBps' | 'topupFees'>

export function requestOf<F extends Omit<CheckoutRequest, 'requestFingerprint'>>(
  fields: F,
  body: readonly string[],
): F & CheckoutRequest {
  const parts = JSON.stringify([fields.kind, fields.wallet, ...body])
  return {
    ...fields,
    requestFingerprint: createHash('sha256').update(parts).digest('base64url'),
  }
}

/**
 * Returns the response to the first request with this quote, even if the quote or the debt has changed since.
 * Returns undefined if the quote has no row.
 */
export async function answerRetry(
  context: Context,
  { quoteId, requestFingerprint }: CheckoutRequest,
): Promise<Answer<PaymentResult> | undefined> {
  const finding = context.database.read((db) => findByQuote(db, quoteId))
  const first = await within(finding, askDeadlineMs, 'the database')
  return first && resume(context, first, requestFingerprint)
}

export async function findRate(
  context: Context,
  { quoteId, requestFingerprint }: CheckoutRequest,
): Promise<Answer<Rate>> {
  const found = await askOr(context, QuoteFind, { quoteId, requestFingerprint, use: 'pay_in' }, 'rate_unavailable')
  if ('refused' in found) return found
  const { pair, rate, spreadBps, topupFees: fees } = found.ok
  // guard: a top-up keeps the fees of its quote
  const topupFees = fees === undefined ? null : topupFeesText(quotedTopupFees(fees))
  return ok({ pair, rateMinorPerUsd: BigInt(rate), spreadBps, topupFees })
}

export async function admitTopup(
  tx: Tx,
  context: Context,
  wanted: { wallet: `0x${string}`; pair: Pair; ausdMicro: bigint; treasury: TreasuryCover | undefined },
): Promise<Answer<object>> {
  const { wallet, pair, ausdMicro, treasury } = wanted
  const [{ pausedSince, ...totals }, fits, freeMicro] = await Promise.all([
    sumTopups(tx, wallet, new Date(context.clock()), pair),
    fitsLimitOfAll(tx, context, ausdMicro),
    treasury && lockFree(tx, treasury),
  ])
  if (pausedSince) return refuse('topups_paused', pausedSince)
  const limited = limitTopup(ausdMicro, totals, context.topupLimits)
  if (limited) return refuse(limited)
  if (!fits) return refuse('day_limit_of_all_reached')
  return coverTopup(freeMicro, { ausdMicro, openMicro: totals.openMicro })
}

/** Opens a payment when the transaction ends. Returns a function for use after the commit. */
export function insertOpening(
  tx: Tx,
  context: Context,
  request: CheckoutRequest,
  terms: PaymentTerms & Rate,
): () => Answer<PaymentRow> {
  // The payer hears of it once its checkout is stored; until then, nobody relies on it.
  unlockBeforeSync(tx)
  const made = insertPayment(tx, rowFor(context, request, terms), openingLeaseMs)
  return () => {
    const row = made()
    return row ? ok(row) : refuse('quote_used')
  }
}

function rowFor({ clock, recheckAfterMs }: Context, request: CheckoutRequest, terms: PaymentTerms & Rate): NewPayment {
  const now = clock()
  const row = {
    id: idFor('payment', request.quoteId),
    state: 'opening',
    ...request,
    ...terms,
    requestId: requestId() ?? null,
    account: accountFor(terms.currency),
    createdAt: new Date(now),
    topupAt: new Date(now),
  } as const
  return {
    ...row,
    nextCheckAt: nextCheck({ ...row, checks: 0, expiresAt: null }, now, recheckAfterMs),
  }
}

/** Duration of the lease on an opening, in ms: longer than taking the quote and one request to the provider. */
const openingLeaseMs = 9_000

/** Takes the quote and opens the checkout; a retry can repeat every step. The caller holds the lease on `payment`. */
export async function finish(context: Context, payment: PaymentRow): Promise<Answer<PaymentResult>> {
  const { quoteId, requestFingerprint } = payment
  // guard: a payment takes its quote before its checkout is opened
  const taken = await askOr(context, QuoteTake, { quoteId, requestFingerprint, use: 'pay_in' }, 'rate_unavailable')
  if ('refused' in taken) return giveUp(context, payment, taken.refused)
  failpoint('payments:quote-taken')
  const ended = payment.kind === 'settlement' ? await replaceEarlier(context, payment) : ok({})
  if (ended === 'lease lost') return refuse('provider_unavailable')
  if ('refused' in ended) return giveUp(context, payment, ended.refused)
  return openCheckout(context, payment)
}

type Why = Extract<Answer<never>, { refused: string }>['refused']
const passing: ReadonlySet<Why> = new Set(['rate_unavailable', 'provider_unavailable'])

async function giveUp(context: Context, payment: PaymentRow, refused: Why) {
  if (passing.has(refused)) await releaseOpening(context, payment)
  else
    await context.database.transaction(async (tx) => {
      const row = await lockPayment(tx, payment.id)
      if (row?.state === 'opening') await expire(tx, context, row)
    })
  return refuse(refused)
}

async function resume(
  context: Context,
  payment: PaymentRow,
  requestFingerprint: string,
): Promise<Answer<PaymentResult>> {
  // guard: a quote that made a payment serves no other request
  if (payment.requestFingerprint !== requestFingerprint) return refuse('quote_used')
  const result = resultOf(payment)
  if (result) return ok(result)
  // The rate was locked for a minute; a checkout opened much later would still use it.
  const ageMs = context.clock() - payment.createdAt.getTime()
  if (payment.state !== 'opening' || ageMs > reopenMaxMs) return refuse('quote_expired')
  const leased = await context.database.run((db) => leaseOpening(db, payment.id, openingLeaseMs))
  return leased ? finish(context, leased) : awaitOther(context, payment.quoteId)
}

export async function answerByRival(context: Context, rival: PaymentRow): Promise<Answer<PaymentResult>> {
  const result = resultOf(rival)
  return result ? ok(result) : awaitOther(context, rival.quoteId)
}

const otherCopyMs = 4_000

async function awaitOther({ database, clock }: Context, quoteId: string): Promise<Answer<PaymentResult>> {
  const givesUpAt = clock() + otherCopyMs
  while (clock() < givesUpAt) {
    const payment = await database.read((db) => findByQuote(db, quoteId))
    const result = payment && resultOf(payment)
    if (result) return ok(result)
    if (payment?.state !== 'opening') break
    await pause(100)
  }
  return refuse('provider_unavailable')
}
