import { toAusdFloor, toFiatCeil } from '#shared/money/conversion'
import { countries, countryBy } from '#shared/money/countries'
import { type Fiat, money } from '#shared/money/money'
import { fiatOf, type Pair } from '#shared/money/pair'
import { type Answer, ok, type RefusalCode, refuse } from '#shared/refusals'

/** What a user may pick; all but `card` show every channel. */
export const methods = ['bank', 'card', 'qr'] as const
export type Method = (typeof methods)[number]

/** What is charged (smallest units of the currency), and what it is worth (10⁻⁶ AUSD). */
export type Price = { currency: Fiat; fiatMinor: bigint; ausdMicro: bigint }

/** Smallest units. The least any channel of the country takes, and the most some channel takes. */
type Limits = {
  readonly leastMinor: bigint
  readonly mostMinor: bigint
  readonly cardMinor: bigint
}

/** Least: a virtual account or FPX. Most: BRI virtual account, FPX for companies. Then cards. */
const channelLimits: Readonly<Record<Fiat, Limits>> = {
  IDR: { leastMinor: 1n, mostMinor: 50_000_000_000n, cardMinor: 200_000_000n },
  MYR: { leastMinor: 100n, mostMinor: 100_000_000n, cardMinor: 500_000n },
}

/** What may be paid in each currency, as people are told it: smallest units. */
export const currencyTerms = () =>
  countries.map(({ country, currency, pair, topupMinMinor }) => {
    const { leastMinor, mostMinor, cardMinor } = channelLimits[currency]
    const topup = { min: `${topupMinMinor}`, max: `${mostMinor}`, cardMax: `${cardMinor}` }
    const settlement = { min: `${leastMinor}`, max: `${mostMinor}` }
    return { currency, country, pair, topup, settlement }
  })

/** What a top-up charges (smallest units) and credits (10⁻⁶ AUSD, rounded down). */
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
  if (amountMinor > (method === 'card' ? cardMinor : mostMinor))
    return refuse('amount_above_maximum')
  const rate = { minorPerUsd: rateMinorPerUsd, currency }
  const ausd = toAusdFloor(money(amountMinor, currency), rate)
  return ok({ currency, fiatMinor: amountMinor, ausdMicro: ausd.minor })
}

/** What a wallet's top-ups may come to: 10⁻⁶ AUSD, and a number of checkouts. */
export type TopupLimits = {
  readonly openMax: number
  readonly openMicroMax: bigint
  readonly dayMicroMax: bigint
}
/** What they come to by now; a day is one of UTC. */
export type TopupTotals = {
  readonly openCount: number
  readonly openMicro: bigint
  readonly dayMicro: bigint
}

/**
 * May a wallet open another top-up? What it can mend by other means is answered before the day's
 * limit, which only the day's end mends.
 */
export function limitTopup(
  ausdMicro: bigint,
  totals: TopupTotals,
  limits: TopupLimits,
): RefusalCode | undefined {
  if (ausdMicro > limits.dayMicroMax) return 'amount_above_day_limit'
  if (totals.openCount + 1 > limits.openMax) return 'topups_open_too_many'
  if (totals.openMicro + ausdMicro > limits.openMicroMax) return 'topups_open_too_much'
  if (totals.dayMicro + ausdMicro > limits.dayMicroMax) return 'day_limit_reached'
  return undefined
}

/**
 * What late money is worth (10⁻⁶ AUSD): the worse for its payer of the locked and the present rate,
 * so that a checkout is no option on the rate. Rates within 1 % count as one and the locked one
 * stands, so that a late settlement still closes its debt: `undefined`.
 */
export function lateWorthFloor(
  locked: Price & { rateMinorPerUsd: bigint },
  presentMinorPerUsd: bigint,
): { ausdMicro: bigint; promisedMicro: bigint; lateRateMinorPerUsd: bigint } | undefined {
  // More local money for a dollar is worse, whatever it pays for.
  if (presentMinorPerUsd * 100n <= locked.rateMinorPerUsd * 101n) return undefined
  const { currency, fiatMinor, ausdMicro: promisedMicro } = locked
  const rate = { minorPerUsd: presentMinorPerUsd, currency }
  const late = { promisedMicro, lateRateMinorPerUsd: presentMinorPerUsd }
  const ausdMicro = toAusdFloor(money(fiatMinor, currency), rate).minor
  // The fiat of a settlement is rounded up, so that a tiny one may seem to be worth more.
  if (ausdMicro > promisedMicro) return { ...late, ausdMicro: promisedMicro }
  return { ...late, ausdMicro }
}

/** What settling the whole debt (10⁻⁶ AUSD) charges, rounded up. */
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
