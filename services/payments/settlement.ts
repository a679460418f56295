import type { Lifecycle } from '#shared/lifecycle'
import { toFiatCeil } from '#shared/money/conversion'
import { money } from '#shared/money/money'
import { fiatOf, type Pair } from '#shared/money/pair'
import { type Answer, ok, refuse } from '#shared/refusals'
import { channelLimits } from './channel'
import type { Price } from './topup'

export type SettlementState =
  | 'opening'
  | 'awaiting_payment'
  | 'expired'
  | 'replaced'
  | 'paid'
  | 'repaid'
  | 'revoking'
  | 'revoked'
  | 'refunded'
  | 'review'

/**
 * As a top-up, but money of a held channel repays at once: the contract keeps its value encumbered
 * until the hold ends, and until then a refund brings the debt back.
 */
export const settlementLifecycle: Lifecycle<SettlementState> = {
  opening: ['awaiting_payment', 'expired', 'replaced', 'paid', 'refunded', 'review'],
  awaiting_payment: ['paid', 'expired', 'replaced', 'refunded', 'review'],
  expired: ['paid', 'refunded', 'review'], // As for a top-up: late money is still their money.
  // Another checkout for the same debt was opened; a code already shown may still be paid.
  replaced: ['paid', 'refunded', 'review'],
  paid: ['repaid', 'revoking', 'review'],
  repaid: ['revoking', 'review'],
  revoking: ['revoked', 'paid', 'review'],
  revoked: ['review'],
  refunded: ['review'],
  review: [],
}

/** What settling the whole debt (micro AUSD) charges, rounded up. */
export function priceSettlement(asked: {
  drawnMicro: bigint
  pair: Pair
  rateMinorPerUsd: bigint
}): Answer<Price> {
  const { drawnMicro, pair, rateMinorPerUsd } = asked
  if (drawnMicro === 0n) return refuse('nothing_owed')
  const currency = fiatOf(pair)
  const rate = { minorPerUsd: rateMinorPerUsd, currency }
  const fiat = toFiatCeil(money(drawnMicro, 'AUSD'), rate)
  const { leastMinor, mostMinor } = channelLimits[currency]
  if (fiat.minor < leastMinor) return refuse('debt_too_small')
  if (fiat.minor > mostMinor) return refuse('amount_above_maximum')
  return ok({ currency, fiatMinor: fiat.minor, ausdMicro: drawnMicro })
}
