import { type Static, Type } from 'typebox'
import { schemaReader } from '#platform/schema'
import { money } from '#shared/money/money'
import { fromProviderAmount, ProviderNumber, toProviderAmount } from '#shared/provider/amount'
import { demandSameField, minorFrom, textFrom } from '#shared/provider/field'
import { payoutStatusFrom } from '#shared/provider/payout'
import type { Reason } from '../../cashout'
import type { Evidence, PayoutChannel, PayoutOrder } from '../../provider'
import { digitsOf, storedNumber } from './account-numbers'

const anything = Type.Optional(Type.Unknown())
const others = { amount: anything, currency: anything, failure_code: anything }

/** Response of `POST /v2/payouts`; the required fields identify the order. */
export const XenditOrdered = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 100 }),
  reference_id: Type.String({ maxLength: 255 }),
  status: Type.String({ maxLength: 80 }),
  ...others,
})

/** Response of `GET /v2/payouts/{id}`; a field of another form counts as missing. */
export const XenditPayout = Type.Object({
  id: anything,
  reference_id: anything,
  status: anything,
  ...others,
})

const Listed = Type.Object({ ...XenditPayout.properties, id: XenditOrdered.properties.id })
/** Response of `GET /v2/payouts?reference_id=`: an object on the wire, a bare array in the documentation. */
export const XenditPayoutList = Type.Union([
  Type.Object({ has_more: Type.Optional(Type.Boolean()), data: Type.Array(Listed) }),
  Type.Array(Listed),
])

/** Response of `GET /payouts_channels`; a malformed row is skipped. */
export const XenditChannelList = Type.Array(Type.Unknown())
const XenditChannel = Type.Object({
  channel_code: Type.String({ maxLength: 80 }),
  channel_name: Type.Optional(Type.String({ maxLength: 200 })),
  channel_category: Type.Literal('BANK'),
  currency: Type.Literal('IDR'),
  amount_limits: Type.Object({
    minimum: ProviderNumber,
    maximum: ProviderNumber,
    minimum_increment: ProviderNumber,
  }),
})

/** Failure codes from the payout references. */
const reasons: ReadonlyMap<string, Reason> = new Map([
  ['INVALID_DESTINATION', 'account_unknown'],
  ['ACCOUNT_NAME_MISMATCH', 'name_differs'],
  ['DESTINATION_MAXIMUM_LIMIT', 'account_limit'],
  ['INSUFFICIENT_BALANCE', 'provider_refused'], // Our own account ran low.
  ['TEMPORARY_TRANSFER_ERROR', 'bank_unavailable'],
  ['UNKNOWN_BANK_NETWORK_ERROR', 'bank_unavailable'],
  ['CANCELLED', 'cancelled'],
  ['EXPIRED', 'cancelled'],
  ['COMPLIANCE_REJECTED', 'compliance'],
  ['REJECTED', 'compliance'],
  ['SLS_SENDER', 'compliance'],
  ['SLS_RECIPIENT', 'compliance'],
])

export const reasonFrom = (status: string, failureCode: string | null): Reason | null =>
  reasons.get(failureCode ?? status) ?? null

/** Returns a payout as evidence. Its amount is in whole rupiah, undefined if inexact. */
export function evidenceFrom(payout: Static<typeof XenditPayout>, payoutId: string): Evidence {
  demandSameField(payout.id, payoutId)
  const word = textFrom(payout.status, 80) ?? ''
  const failureCode = textFrom(payout.failure_code, 80)
  return {
    payoutId,
    referenceId: textFrom(payout.reference_id) ?? '',
    status: payoutStatusFrom(word),
    word,
    failureCode,
    reason: reasonFrom(word, failureCode),
    amountMinor: minorFrom(payout.amount, 'IDR') ?? undefined,
    currency: textFrom(payout.currency, 8) ?? '',
  }
}

/** Returns the body of an order, always the same one: the provider refuses a changed body under one key. */
export const bodyOf = (order: PayoutOrder) => ({
  reference_id: order.id,
  channel_code: order.channelCode,
  channel_properties: {
    account_number: storedNumber(order.channelCode, order.accountNumber),
    account_holder_name: order.accountHolderName,
  },
  amount: toProviderAmount(money(order.fiatMinor, 'IDR')),
  currency: 'IDR',
  description: `AUSD ${order.id.slice(0, 8)}`, // BNI and Mandiri print 14 characters.
  metadata: order.promised,
})

/** Returns the channels, without rows that are malformed or lack usable limits. */
export const channelsFrom = (rows: readonly unknown[]): PayoutChannel[] =>
  rows.flatMap((row) => {
    const read = schemaReader(XenditChannel)(row)
    if ('fault' in read) return []
    const { minimum, maximum, minimum_increment } = read.value.amount_limits
    const [min, max, increment] = [minimum, maximum, minimum_increment].map(
      (limit) => fromProviderAmount(limit, 'IDR')?.minor,
    )
    if (min === undefined || max === undefined || !increment) return []
    const code = read.value.channel_code
    const limits = { minMinor: min, maxMinor: max, incrementMinor: increment }
    const name = read.value.channel_name ?? code
    return [{ code, name, ...limits, accountDigits: digitsOf(code) }]
  })
