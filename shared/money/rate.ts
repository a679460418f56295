import { type Fiat, type Money, money } from '#shared/money/money'

/** A rate in smallest units of the local currency per US dollar: "16250" is Rp 16,250, "421" is RM 4.21. */
export type Rate<C extends Fiat = Fiat> = { readonly minorPerUsd: bigint; readonly currency: C }

const microPerUsd = 1_000_000n

/** Converts to AUSD, rounded down: a top-up never credits a fraction that was not paid. */
export const toAusdFloor = (fiat: Money<Fiat>, rate: Rate): Money<'AUSD'> => {
  assertSame(fiat.currency, rate.currency)
  return money((fiat.minor * microPerUsd) / rate.minorPerUsd, 'AUSD')
}

/** Converts to AUSD, rounded up: the least AUSD that is worth the amount. */
export const toAusdCeil = (fiat: Money<Fiat>, rate: Rate): Money<'AUSD'> => {
  assertSame(fiat.currency, rate.currency)
  return money((fiat.minor * microPerUsd + rate.minorPerUsd - 1n) / rate.minorPerUsd, 'AUSD')
}

/** Converts to local currency, rounded down: a cash-out never pays a fraction that was not taken. */
export const toFiatFloor = <C extends Fiat>(ausd: Money<'AUSD'>, rate: Rate<C>): Money<C> =>
  money((ausd.minor * rate.minorPerUsd) / microPerUsd, rate.currency)

/** Converts to local currency, rounded up: a settlement never leaves a fraction of the debt. */
export const toFiatCeil = <C extends Fiat>(ausd: Money<'AUSD'>, rate: Rate<C>): Money<C> =>
  money((ausd.minor * rate.minorPerUsd + microPerUsd - 1n) / microPerUsd, rate.currency)

function assertSame(left: Fiat, right: Fiat) {
  if (left !== right) throw new Error(`a rate for ${right} cannot convert ${left}`)
}
