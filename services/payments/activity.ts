import type { Static } from 'typebox'
import { answering } from '#shared/bus/serve'
import { countDead } from '#shared/db/dead-letter.store'
import { listingAgeMs } from '#shared/db/listing.store'
import { outboxLag } from '#shared/db/outbox.store'
import type { ActivityEntry } from '#shared/messages/activity'
import { PaymentsActivity } from '#shared/messages/payments'
import { agesOf } from '#shared/overdue'
import { ok } from '#shared/refusals'
import { countPayments, type ListedPayment, listActivity, oldestPayments } from './activity.store'
import type { Context } from './context'
import { coverFigures } from './cover/treasury'
import { awaitsRate, limits, type Reason } from './payment'
import { countFrozen, sumMissing } from './refunds/refund.store'
import { deadLetters, listings, outbox } from './schema.store'

/** What a user reads about a payment that did not go the usual way. */
const texts: Readonly<Record<Reason, string>> = {
  awaiting_rate: 'the payment came after the checkout closed and waits for an exchange rate',
  sender_unverified:
    'the bank account that paid could not be confirmed to be yours; support will contact you',
  amount_differs: 'the amount paid differs from the amount asked for; support will contact you',
  currency_differs: 'the payment came in another currency; support will contact you',
  paid_twice: 'this checkout was paid twice; support will return the second payment',
  replaced: 'another checkout was opened for this debt',
  made_good: 'it made good an earlier payment that was taken back, as far as that was needed',
  refunded_before_credit: 'the payment was refunded before it was credited',
  refunded_in_part: 'part of the payment was refunded, so only the rest counts',
  refunded_during_hold: 'the payment was refunded while it was held, so it was taken back',
  refunded_after_credit: 'the payment was refunded after it was credited; support will contact you',
  credit_failed: 'the payment arrived and could not be credited yet; support will see to it',
  repay_failed: 'the payment arrived and the debt could not be repaid yet; support will see to it',
  revoke_failed: 'the payment was refunded as its hold ended; support will contact you',
}

/** Beside any other reason. */
const paidLate = 'it was paid after the checkout closed, so it counts at the rate of that time'

/** One page of a wallet's payments, newest first, and everything of it that is in flight. */
export const answerActivity = ({ database, clock }: Context) =>
  answering(PaymentsActivity, async (asked) => {
    const nowMs = clock()
    const { page, open } = await listActivity(database, asked, new Date(nowMs))
    return ok({
      items: page.map((row) => entryOf(row, nowMs)),
      inFlight: open.map((row) => entryOf(row, nowMs)).filter(({ inFlight }) => inFlight),
    })
  })

/** One line of the user's activity. A checkout whose time is up counts as expired at once. */
function entryOf(payment: ListedPayment, nowMs: number): Static<typeof ActivityEntry> {
  const { expiresAt, checkoutUrl, reason } = payment
  const payable =
    payment.state === 'awaiting_payment' && expiresAt !== null && expiresAt.getTime() > nowMs
  const status = payment.state === 'awaiting_payment' && !payable ? 'expired' : payment.state
  const unpaid = status === 'expired' && !awaitsRate(payment)
  const why = unpaid ? ['the checkout was not paid in time'] : reason ? [texts[reason]] : []
  if (payment.lateRateMinorPerUsd !== null) why.push(paidLate)
  return {
    id: payment.id,
    kind: payment.kind,
    status,
    inFlight: payable || awaitsChain(payment),
    ...(why.length > 0 ? { reason: why.join('; ') } : {}),
    pair: payment.pair,
    fiat: payment.fiatMinor.toString(),
    ausd: payment.ausdMicro.toString(),
    ...(payment.method ? { method: payment.method } : {}),
    ...(payment.channel ? { channel: payment.channel } : {}),
    ...(payable && checkoutUrl ? { checkoutUrl } : {}),
    ...(expiresAt ? { expiresAt: expiresAt.toISOString() } : {}),
    ...(payment.txHash ? { txHash: payment.txHash } : {}),
    createdAt: payment.createdAt.toISOString(),
    updatedAt: payment.updatedAt.toISOString(),
  }
}

/** The money arrived, and its effect is not on the chain. */
const awaitsChain = ({ state, txHash, reason }: ListedPayment): boolean =>
  awaitsRate({ reason }) ||
  state === 'paid' ||
  state === 'revoking' ||
  (state === 'review' && !txHash && reason !== 'paid_twice')

/** The figures of `nats micro stats`: counts, ages in ms, amounts in 10⁻⁶ AUSD. */
export async function readStats({ database, treasury, clock }: Context) {
  const [
    lag,
    dead,
    frozenWallets,
    missingMicro,
    listAgeMs,
    latestListAgeMs,
    counted,
    oldest,
    cover,
  ] = await Promise.all([
    outboxLag(database, outbox),
    countDead(database, deadLetters),
    database.read(countFrozen),
    database.read(sumMissing),
    listingAgeMs(database, listings),
    listingAgeMs(database, listings, 'latest'),
    database.read(countPayments),
    database.read(oldestPayments),
    coverFigures({ database, clock }, treasury),
  ])
  const { oldestInFlightMs, ...counts } = counted
  return {
    outboxWaiting: lag.waiting,
    outboxOldestMs: lag.oldestMs,
    deadLetters: dead,
    frozenWallets,
    missingMicro,
    /** How long ago the provider's list was last read whole, its last days and minutes; null: not yet. */
    listAgeMs,
    latestListAgeMs,
    ...counts,
    /** Absent before the treasury was first read. */
    ...(cover ? { cover } : {}),
    /** By state, of what is awaited in it. */
    oldestMs: agesOf(limits, oldest),
    oldestInFlightMs: oldestInFlightMs === null ? null : Math.round(oldestInFlightMs),
  }
}
