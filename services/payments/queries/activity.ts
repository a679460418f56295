import { strict as assert } from 'node:assert'
import { handler } from '#platform/bus/serve'
import { countDead } from '#platform/db/dead-letter.store'
import { outboxLag } from '#platform/db/outbox.store'
import { agesOf } from '#platform/metrics/state-limits'
import type { ActivityEntry } from '#shared/messages/activity'
import { PaymentsActivity, PaymentsItem } from '#shared/messages/payments'
import { listingAgeMs } from '#shared/provider/listing.store'
import { ok } from '#shared/refusals'
import type { Context } from '../context'
import { countFrozen, sumMissing } from '../losses/refund.store'
import { awaitsRate, limits, shownFee, states } from '../payment'
import type { PaymentProvider } from '../provider'
import { deadLetters, listings, outbox } from '../schema.store'
import { coverFigures } from '../treasury/treasury'
import { countPayments, findListed, type ListedPayment, listActivity, oldestPayments } from './activity.store'
import { userMessages } from './user-messages'

export const answerActivity = ({ database, clock, provider }: Context) =>
  handler(PaymentsActivity, async (asked) => {
    const as = { nowMs: clock(), kindOfChannel: provider.kindOfChannel }
    const { page, open } = await listActivity(database, asked, new Date(as.nowMs))
    return ok({
      items: page.map((row) => entryOf(row, as)),
      inFlight: open.map((row) => entryOf(row, as)).filter(({ inFlight }) => inFlight),
    })
  })

export const answerItem = (context: Context) =>
  handler(PaymentsItem, async (asked) => ok({ item: await readItem(context, asked) }))

export async function readItem(
  { database, clock, provider }: Context,
  asked: { wallet: `0x${string}`; id: string },
): Promise<ActivityEntry | null> {
  const row = await findListed(database, asked)
  return row ? entryOf(row, { nowMs: clock(), kindOfChannel: provider.kindOfChannel }) : null
}

function entryOf(
  payment: ListedPayment,
  { nowMs, kindOfChannel }: { nowMs: number; kindOfChannel: PaymentProvider['kindOfChannel'] },
): ActivityEntry {
  const { expiresAt, checkoutUrl, state, channel, issuer, bankReceipt } = payment
  // The query excludes payments that are still opening.
  assert(state !== 'opening')
  const payable = state === 'awaiting_payment' && expiresAt !== null && expiresAt.getTime() > nowMs
  const status = state === 'awaiting_payment' && !payable ? 'expired' : state
  return {
    id: payment.id,
    kind: payment.kind,
    status,
    inFlight: payable || awaitsEnd(payment),
    ...userMessages(payment, status),
    pair: payment.pair,
    fiat: payment.fiatMinor.toString(),
    ...shownFee(payment),
    rate: (payment.lateRateMinorPerUsd ?? payment.rateMinorPerUsd).toString(),
    ausd: payment.ausdMicro.toString(),
    ...(payment.method ? { method: payment.method } : {}),
    ...(channel ? { channel: kindOfChannel(channel), channelCode: channel } : {}),
    ...(issuer ? { issuer } : {}),
    ...(bankReceipt ? { bankReceipt } : {}),
    ...(payable && checkoutUrl ? { checkoutUrl } : {}),
    ...(expiresAt ? { expiresAt: expiresAt.toISOString() } : {}),
    ...(payment.txHash ? { txHash: payment.txHash } : {}),
    createdAt: payment.createdAt.toISOString(),
    updatedAt: payment.updatedAt.toISOString(),
  }
}

const awaitsEnd = ({ state, txHash, reason }: ListedPayment): boolean =>
  awaitsRate({ reason }) ||
  states[state].inFlight === true ||
  (state === 'review' && !txHash && reason !== 'paid_twice')

/** Returns figures for `nats micro stats --json`: counts, ages in ms, amounts in 10⁻⁶ AUSD. */
export async function readStats({ database, treasury, clock }: Context) {
  const [lag, dead, frozenWallets, missingMicro, listAgeMs, latestListAgeMs, counted, oldest, cover] =
    await Promise.all([
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
    /**
     * Ages of the last complete readings of the provider's list, over days and over minutes; null before the
     * first.
     */
    listAgeMs,
    latestListAgeMs,
    ...counts,
    /** Cover of the treasury; absent before its first reading. */
    ...(cover ? { cover } : {}),
    oldestMs: agesOf(limits, oldest),
    oldestInFlightMs: oldestInFlightMs === null ? null : Math.round(oldestInFlightMs),
  }
}
