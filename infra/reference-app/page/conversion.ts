import { amountBeforeFee, quotedFee } from '#shared/money/fee'
import type { Fiat } from '#shared/money/money'
import { fiatOf } from '#shared/money/pair'
import { ausdFor, cashoutFor, fiatFor, type PayoutPrice, type Priced } from './format'

/**
 * Converts between AUSD (10⁻⁶) and the local money in which a user types an amount, in its smallest unit. The two ways
 * are rounded against each other, so that a typed amount reads the same after both.
 */
export type Conversion = {
  readonly currency: Fiat
  readonly rate: string
  /** How AUSD is rounded when it is written. */
  readonly rounding: 'down' | 'up'
  readonly toLocal: (micro: string) => string
  readonly toAusd: (minor: string) => string
}

/**
 * Converts at a rate. A debt and its bounds are rounded `up` in local money, and everything else `down`, as the page
 * shows them.
 */
export function atRate(price: Priced, rounding: 'down' | 'up'): Conversion {
  const against = rounding === 'up' ? 'down' : 'up'
  return {
    currency: fiatOf(price.pair),
    rate: price.rate,
    rounding,
    toLocal: (micro) => fiatFor(micro, price, rounding),
    toAusd: (minor) => ausdFor(minor, price, against),
  }
}

/** Converts between the AUSD of a cash-out and what its bank account receives: the least AUSD that brings an amount. */
export const forBank = (price: PayoutPrice): Conversion => ({
  currency: fiatOf(price.pair),
  rate: price.rate,
  rounding: 'down',
  toLocal: (micro) => cashoutFor(micro, price).fiat,
  toAusd: (minor) => ausdFor(String(amountBeforeFee(BigInt(minor), quotedFee(price.cashoutFee))), price, 'up'),
})

/**
 * Returns the AUSD that a typed amount stands for. What the maximum is worth stands for the maximum itself, so that no
 * rest of a debt or balance stays that is less than the smallest unit of local money.
 */
export const microFor = (minor: string, { toLocal, toAusd }: Conversion, max?: string): string =>
  max !== undefined && minor === toLocal(max) ? max : toAusd(minor)
