import type { Lifecycle } from '#shared/lifecycle'
import { toAusdFloor } from '#shared/money/conversion'
import { type Fiat, money } from '#shared/money/money'
import type { Pair } from '#shared/money/pair'
import { fiatOf } from '#shared/money/pair'
import { type Answer, ok, refuse } from '#shared/refusals'
import { channelLimits } from './channel'

export type TopupState =
  | 'opening'
  | 'awaiting_payment'
  | 'expired'
  | 'paid'
  | 'held'
  | 'credited'
  | 'revoking'
  | 'revoked'
  | 'refunded'
  | 'review'

/** `review` waits for a person; nothing leaves it by itself. */
export const topupLifecycle: Lifecycle<TopupState> = {
  // The provider may have opened a checkout whose answer we never saw, and it may be paid.
  opening: ['awaiting_payment', 'expired', 'paid', 'refunded', 'review'],
  awaiting_payment: ['paid', 'expired', 'refunded', 'review'],
  // A bank may settle a transfer after the checkout closed; we still owe the credit.
  expired: ['paid', 'refunded', 'review'],
  paid: ['credited', 'held', 'revoking', 'review'],
  held: ['credited', 'revoking', 'review'],
  // Refunded after the credit, or paid a second time.
  credited: ['review'],
  // What was not refunded is credited anew.
  revoking: ['revoked', 'paid', 'review'],
  revoked: ['review'],
  // Given back before any credit was ordered.
  refunded: ['review'],
  review: [],
}

export type Method = 'bank' | 'card' | 'qr'
export type Price = { currency: Fiat; fiatMinor: bigint; ausdMicro: bigint }

const minimumMinor: Readonly<Record<Fiat, bigint>> = { IDR: 10_000n, MYR: 500n }

/** What a top-up charges (smallest units) and credits (micro AUSD, rounded down). */
export function priceTopup(asked: {
  amountMinor: bigint
  method: Method
  pair: Pair
  rateMinorPerUsd: bigint
}): Answer<Price> {
  const { amountMinor, method, pair, rateMinorPerUsd } = asked
  const currency = fiatOf(pair)
  const { mostMinor, cardMinor } = channelLimits[currency]
  if (amountMinor < minimumMinor[currency])
    return refuse(currency === 'IDR' ? 'amount_below_minimum_idr' : 'amount_below_minimum_myr')
  if (amountMinor > (method === 'card' ? cardMinor : mostMinor))
    return refuse('amount_above_maximum')
  const rate = { minorPerUsd: rateMinorPerUsd, currency }
  const ausd = toAusdFloor(money(amountMinor, currency), rate)
  return ok({ currency, fiatMinor: amountMinor, ausdMicro: ausd.minor })
}
