import { businessIdOf, currencyOf } from '../account'
import { cashMinor } from '../balance'
import { banks } from '../channels/bank'
import { type Context, nowText, planAt } from '../context'
import { majorFromMinor } from '../money'
import type { Payout } from '../records'
import { deliverEvent } from '../webhooks/payment-event'
import { planNext } from './payout-plan'

const arrivalMs = 15 * 60_000

const sharedFields = (payout: Payout) => {
  const currency = currencyOf[payout.account]
  const arrivesAt = new Date(Date.parse(payout.createdAt) + arrivalMs).toISOString()
  return {
    id: payout.id,
    amount: majorFromMinor(payout.amountMinor, currency),
    channel_code: payout.channelCode,
    currency,
    reference_id: payout.referenceId,
    status: payout.forced?.status ?? payout.status,
    created: payout.createdAt,
    updated: payout.updatedAt,
    estimated_arrival_time: arrivesAt,
    ...payout.echoed,
    ...(payout.failureCode && { failure_code: payout.failureCode }),
  }
}

/** Returns a payout as in API responses. */
export const payoutBody = (payout: Payout): Record<string, unknown> => ({
  ...sharedFields(payout),
  business_id: businessIdOf[payout.account],
  channel_properties: {
    account_number: payout.accountNumber,
    account_holder_name: payout.accountHolderName,
  },
})

/** Returns a payout as in webhooks: flat as observed, unlike the documentation. */
const payoutEventBody = (payout: Payout): Record<string, unknown> => ({
  ...sharedFields(payout),
  channel_category: banks.find((bank) => bank.code === payout.channelCode)?.category ?? 'BANK',
  idempotency_key: payout.idempotencyKey,
  account_number: payout.accountNumber,
  account_holder_name: payout.accountHolderName,
  ...(payout.status === 'SUCCEEDED' && {
    connector_reference: `SIMULATED_CONNECTOR_REFERENCE_${Date.parse(payout.updatedAt)}_1`,
  }),
})

/** Returns a v3 payout as in API responses and webhooks. */
export function payoutV3Body(payout: Payout): Record<string, unknown> {
  const currency = currencyOf[payout.account]
  return {
    payout_id: payout.id,
    business_id: businessIdOf[payout.account],
    reference_id: payout.referenceId,
    type: 'B2C',
    status: payout.forced?.status ?? payout.status,
    source_amount: Number(payout.amountMinor),
    source_currency: currency,
    destination_amount: Number(payout.amountMinor),
    destination_currency: currency,
    ...(payout.failureCode && { failure_code: payout.failureCode }),
    created: payout.createdAt,
    updated: payout.updatedAt,
  }
}

export function movePayout(
  context: Context,
  payout: Payout,
  status: Payout['status'],
  failureCode: string | null = null,
): Payout {
  const { forced, ...record } = payout
  const moved = context.book.save('payouts', {
    ...record,
    // A word that was told is shown until the payout ends.
    ...(status === 'REQUESTED' && forced && { forced }),
    status,
    failureCode,
    updatedAt: nowText(context),
  })
  if (status === 'SUCCEEDED' || status === 'FAILED' || status === 'REVERSED') {
    const isV3 = moved.version === 3
    const event = `${isV3 ? 'v3_payout' : 'payout'}.${status.toLowerCase()}`
    deliverEvent(context, moved.account, event, isV3 ? payoutV3Body(moved) : payoutEventBody(moved))
  }
  planPayout(context, moved)
  return moved
}

/** Opens a payout. As documented, a payout above the balance is accepted and fails later. */
export function openPayout(context: Context, asked: Payout): Payout {
  const isFunded = asked.amountMinor <= cashMinor(context, asked.account)
  const payout = context.book.save('payouts', isFunded ? asked : { ...asked, unfunded: true })
  planPayout(context, payout)
  return payout
}

export function planPayout(context: Context, payout: Payout): void {
  const step = planNext(payout, context.config.payoutSettleMs)
  if (!step) return
  planAt(context, Date.parse(payout.updatedAt) + step.afterMs, () => {
    const current = context.book.get('payouts', payout.id)
    if (current?.status === payout.status) movePayout(context, current, step.status, step.failureCode)
  })
}
