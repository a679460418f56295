import { type Static, Type } from 'typebox'
import { demandSameField, minorFrom, textFrom } from '#shared/provider/field'
import { arrivingOf, payoutStatusFrom } from '#shared/provider/payout'
import type { Evidence, PayoutOrder } from '../../provider'
import { storedNumber } from './account-numbers'
import { reasonFrom } from './mapping'
import { swiftCodeOf } from './swift-codes'

const anything = Type.Optional(Type.Unknown())
const amounts = {
  source_amount: anything,
  source_currency: anything,
  destination_amount: anything,
  destination_currency: anything,
  failure_code: anything,
}

/** Response of `POST /v3/payouts`. */
export const XenditOrderedV3 = Type.Object({
  payout_id: Type.String({ minLength: 1, maxLength: 100 }),
  reference_id: Type.String({ maxLength: 255 }),
  status: Type.String({ maxLength: 80 }),
  ...amounts,
})

/** Response of `GET /v3/payouts/{payout_id}`. */
export const XenditPayoutV3 = Type.Object({
  payout_id: anything,
  reference_id: anything,
  status: anything,
  ...amounts,
})

const Listed = Type.Object({
  ...XenditPayoutV3.properties,
  payout_id: XenditOrderedV3.properties.payout_id,
})
/** Response of `GET /v3/payouts?reference_id=`. It is undocumented, and assumed to have the form of v2. */
export const XenditPayoutListV3 = Type.Object({
  has_more: Type.Optional(Type.Boolean()),
  data: Type.Array(Listed),
})

/** Returns a payout as evidence. Amounts are whole rupiah. */
export function evidenceFromV3(payout: Static<typeof XenditPayoutV3>, payoutId: string): Evidence {
  demandSameField(payout.payout_id, payoutId)
  const word = textFrom(payout.status, 80) ?? ''
  const failureCode = textFrom(payout.failure_code, 80)
  const [amount, currency] = arrivingOf(payout)
  return {
    payoutId,
    referenceId: textFrom(payout.reference_id) ?? '',
    status: payoutStatusFrom(word),
    word,
    failureCode,
    reason: reasonFrom(word, failureCode),
    amountMinor: minorFrom(amount, 'IDR') ?? undefined,
    currency: textFrom(currency, 8) ?? '',
  }
}

/** Returns the body of an order, always the same one. The reference requires an address; we know only the country. */
export const bodyOfV3 = (order: PayoutOrder) => ({
  reference_id: order.id,
  recipient: {
    type: 'INDIVIDUAL',
    given_name: order.accountHolderName,
    relationship: 'CUSTOMER',
    address: { country: 'ID' },
    account_details: {
      currency: 'IDR',
      account_country: 'ID',
      account_holder_name: order.accountHolderName,
      account_number: storedNumber(order.channelCode, order.accountNumber),
      routing_type_1: 'SWIFT',
      routing_value_1: swiftCodeOf(order.channelCode),
    },
  },
  payout_details: {
    source_currency: 'IDR',
    destination_currency: 'IDR',
    destination_amount: Number(order.fiatMinor),
  },
  source_of_fund: 'BUSINESS_REVENUE',
  purpose_code: 'OTHER',
  description: `AUSD ${order.id.slice(0, 8)}`,
})
