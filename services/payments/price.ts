import type { ChannelKind } from '#shared/messages/activity'
import { countries, countryBy } from '#shared/money/countries'
import { type Fiat, money } from '#shared/money/money'
import { fiatOf, type Pair } from '#shared/money/pair'
import { toAusdFloor, toFiatCeil } from '#shared/money/rate'
import { topupFeeFloor, topupFeesFrom } from '#shared/money/topup-fee'
import { type Answer, ok, type RefusalCode, refuse } from '#shared/refusals'
import type { PaymentKind } from './payment'

/** Payment methods that a user may choose. All except `card` show every channel. */
export const methods = ['bank', 'card', 'qr'] as const
export type Method = (typeof methods)[number]

/** Charge (smallest unit of the currency) and its value (10⁻⁶ AUSD). */
export type Price = { currency: Fiat; fiatMinor: bigint; ausdMicro: bigint }
export type PaymentTerms = Price & {
  readonly pair: Pair
  readonly rateMinorPerUsd: bigint
  /** Part of the value that the limits of top-ups apply to (10⁻⁶ AUSD). */
  readonly topupMicro: bigint
}

/**
 * Limits of a country's channels, in smallest units: lowest minimum and highest maximum of all, and maximum
 * of cards.
 */
type Limits = {
  readonly leastMinor: bigint
  readonly mostMinor: bigint
  readonly cardMinor: bigint
}

/**
 * Limits of the channels: the minimum of virtual accounts (IDR) and FPX (MYR), and the maximum of BRI virtual
 * accounts (IDR) and of FPX for companies (MYR).
 */
const channelLimits: Readonly<Record<Fiat, Limits>> = {
  IDR: { leastMinor: 1n, mostMinor: 50_000_000_000n, cardMinor: 200_000_000n },
  MYR: { leastMinor: 100n, mostMinor: 100_000_000n, cardMinor: 500_000n },
}

/** Returns the limits of each currency, in smallest units. */
export const currencyTerms = () =>
  countries.map(({ country, currency, pair, topupMinMinor }) => {
    const { leastMinor, mostMinor, cardMinor } = channelLimits[currency]
    const topup = { min: `${topupMinMinor}`, max: `${mostMinor}`, cardMax: `${cardMinor}` }
    const settlement = { min: `${leastMinor}`, max: `${mostMinor}` }
    return { currency, country, pair, topup, settlement }
  })

/** Prices a top-up; the credit (10⁻⁶ AUSD) is rounded down. */
export function priceTopup(asked: {
  amountMinor: bigint
  method: Method
  pair: Pair
  rateMinorPerUsd: bigint
}): Answer<Price> {
  const { amountMinor, method, pair, rateMinorPerUsd } = asked
  const currency = fiatOf(pair)
  const { mostMinor, cardMinor } = channelLimits[currency]
  if (amountMinor < countryBy('currency', currency).topupMinMinor)
    return refuse(currency === 'IDR' ? 'amount_below_minimum_idr' : 'amount_below_minimum_myr')
  if (amountMinor > (method === 'card' ? cardMinor : mostMinor)) return refuse('amount_above_maximum')
  const rate = { minorPerUsd: rateMinorPerUsd, currency }
  const ausd = toAusdFloor(money(amountMinor, currency), rate)
  return ok({ currency, fiatMinor: amountMinor, ausdMicro: ausd.minor })
}

/**
 * Charges the fee that a payment was promised for the channel that its payer used, in smallest units, and prices the rest of the
 * money. Without a fee the value stays as it is.
 */
export function chargeFee(
  payment: Price & { readonly rateMinorPerUsd: bigint; readonly topupFees: string | null },
  channel: ChannelKind,
): { feeMinor: bigint; ausdMicro: bigint } {
  const { currency, fiatMinor, ausdMicro, rateMinorPerUsd, topupFees } = payment
  const feeMinor = topupFees === null ? 0n : topupFeeFloor(fiatMinor, channel, topupFeesFrom(topupFees))
  if (feeMinor === 0n) return { feeMinor, ausdMicro }
  const rate = { minorPerUsd: rateMinorPerUsd, currency }
  return { feeMinor, ausdMicro: toAusdFloor(money(fiatMinor - feeMinor, currency), rate).minor }
}

export type TopupLimits = {
  readonly openMax: number
  readonly openMicroMax: bigint
  /** Number of paid top-ups a day. The provider charges for each, however small. */
  readonly dayCountMax: number
  readonly dayMicroMax: bigint
}
/** Totals of a wallet's top-ups; a day is one of the country of the payment. */
export type TopupTotals = {
  readonly openCount: number
  readonly openMicro: bigint
  /** Number of the day's top-ups that are paid or may be paid. */
  readonly dayCount: number
  readonly dayMicro: bigint
}

/**
 * Returns the limit that a top-up exceeds. The daily limits come last: the user can resolve the others, but
 * has to wait for those.
 */
export function limitTopup(ausdMicro: bigint, totals: TopupTotals, limits: TopupLimits): RefusalCode | undefined {
  if (ausdMicro > limits.dayMicroMax) return 'amount_above_day_limit'
  if (totals.openCount + 1 > limits.openMax) return 'topups_open_too_many'
  if (totals.openMicro + ausdMicro > limits.openMicroMax) return 'topups_open_too_much'
  // guard: a wallet's top-ups of a day are limited in number
  if (totals.dayCount + 1 > limits.dayCountMax) return 'topups_day_too_many'
  // guard: a wallet's top-ups of a day have a limit
  if (totals.dayMicro + ausdMicro > limits.dayMicroMax) return 'day_limit_reached'
  return undefined
}

/** By how much the current rate may be worse before late money is priced by it, in percent. */
const lateMarginPercent: Readonly<Record<PaymentKind, bigint>> = {
  // A payer could wait for a day, and pay only if the rate has moved in their favour.
  topup: 0n,
  // A late settlement still closes its debt.
  settlement: 1n,
}

/**
 * Prices late money at the locked or the current rate, whichever is worse for the payer, so that a checkout
 * is no free option. Returns undefined if the current rate is not worse by more than the margin.
 */
export function lateWorthFloor(
  locked: Price & { feeMinor: bigint; rateMinorPerUsd: bigint; kind: PaymentKind },
  presentMinorPerUsd: bigint,
): { ausdMicro: bigint; promisedMicro: bigint; lateRateMinorPerUsd: bigint } | undefined {
  // More local currency per dollar is worse for the payer of either kind.
  if (presentMinorPerUsd * 100n <= locked.rateMinorPerUsd * (100n + lateMarginPercent[locked.kind])) return undefined
  const { currency, fiatMinor, feeMinor, ausdMicro: promisedMicro } = locked
  const rate = { minorPerUsd: presentMinorPerUsd, currency }
  const late = { promisedMicro, lateRateMinorPerUsd: presentMinorPerUsd }
  // guard: the fee of late money buys nothing
  const ausdMicro = toAusdFloor(money(fiatMinor - feeMinor, currency), rate).minor
  // The fiat amount of a settlement is rounded up, so a tiny one could be priced above its promise.
  if (ausdMicro > promisedMicro) return { ...late, ausdMicro: promisedMicro }
  return { ...late, ausdMicro }
}

/** Prices the whole debt (10⁻⁶ AUSD); the fiat amount is rounded up. */
export function priceSettlement(asked: { drawnMicro: bigint; pair: Pair; rateMinorPerUsd: bigint }): Answer<Price> {
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
