import { decimals } from '#shared/money/money'
import { fiatOf, type Pair } from '#shared/money/pair'

/** A rate from a source: local currency per US dollar, with the source's own date. */
export type Sighting = {
  readonly source: string
  readonly pair: Pair
  /** Local currency in major units, times 10⁸. */
  readonly localE8PerUsd: bigint
  /** Unix ms of the rate's own date, not of the request; midnight UTC if it is only a day. */
  readonly asOfMs: number
}

/** A rate source. Its responses are untrusted and validated by a schema. */
export type RateSource = {
  readonly name: string
  readonly pairs: readonly Pair[]
  /** Its terms only allow its rates as a cross-check, not for quotes. */
  readonly checkOnly: boolean
  /** Requests the rate once, with a timeout. Throws on any response but a rate for this pair. */
  readonly ask: (pair: Pair) => Promise<Sighting>
}

const scale = 100_000_000n
const plain = /^([0-9]{1,9})(?:\.([0-9]{1,20}))?$/

/**
 * Parses a decimal number (`4.2135`) into 10⁻⁸ units, truncating further digits. Returns undefined
 * for signs, exponents, other text and zero, which is not a rate.
 */
export function localE8From(value: unknown): bigint | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined
  const [, whole, fraction = ''] = plain.exec(String(value)) ?? []
  if (whole === undefined) return undefined
  return BigInt(whole + fraction.slice(0, 8).padEnd(8, '0')) || undefined
}

/** Converts a rate in minor units (`421` sen) to the scale of a sighting, exactly. */
export const localE8FromMinor = (minorPerUsd: bigint, pair: Pair): bigint =>
  (minorPerUsd * scale) / minorPerMajor(pair)

/**
 * Returns the rate of a quote in minor units per US dollar: reference × (1 + spread), rounded up to
 * a minor unit. No other function rounds rates.
 *
 * A spread (basis points, never negative) raises the price of a dollar in both directions. A payer
 * gets less AUSD, which earns us the spread. A payee sells AUSD at the same USD/IDR rate and gets
 * more rupiah, which costs us the spread. So 1 % on USD/IDR earns 1 % of top-ups and loses 1 % of
 * cash-outs, and USD/IDR should have 0 unless it is never paid out. USD/MYR is never paid out.
 */
export function quotedMinorPerUsdCeil(reference: Sighting, spreadBps: bigint): bigint {
  const numerator = reference.localE8PerUsd * minorPerMajor(reference.pair) * (10_000n + spreadBps)
  const denominator = scale * 10_000n
  return (numerator + denominator - 1n) / denominator
}

/** Formats a rate in minor units per US dollar, exactly: `421.35`. */
export function minorPerUsdText({ localE8PerUsd, pair }: Sighting): string {
  const e8 = localE8PerUsd * minorPerMajor(pair)
  const fraction = (e8 % scale).toString().padStart(8, '0').replace(/0+$/, '')
  return fraction === '' ? `${e8 / scale}` : `${e8 / scale}.${fraction}`
}

/** Returns the difference of two rates in basis points of the first, rounded up. */
export function distanceBpsCeil(from: Sighting, to: Sighting): bigint {
  const apart = from.localE8PerUsd - to.localE8PerUsd
  const numerator = (apart < 0n ? -apart : apart) * 10_000n
  return (numerator + from.localE8PerUsd - 1n) / from.localE8PerUsd
}

/** Returns the UTC day, e.g. `2026-11-20`. */
export const dayOf = (unixMs: number): string => new Date(unixMs).toISOString().slice(0, 10)

const minorPerMajor = (pair: Pair): bigint => 10n ** BigInt(decimals[fiatOf(pair)])
