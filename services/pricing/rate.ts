import { decimals } from '#shared/money/money'
import { fiatOf, type Pair } from '#shared/money/pair'

/** What a source said: so much local currency for one US dollar, as of a moment it names itself. */
export type Sighting = {
  readonly source: string
  readonly pair: Pair
  /** Local currency in major units, times 10⁸. */
  readonly localE8PerUsd: bigint
  /** Unix ms of the rate's own date, not of our asking; midnight UTC where only a day is named. */
  readonly asOfMs: number
}

/** Where rates come from. What a source answers is untrusted: it is read by a schema or refused. */
export type RateSource = {
  readonly name: string
  readonly pairs: readonly Pair[]
  /** Its terms let its rates be compared with, never be the price of anything. */
  readonly checkOnly: boolean
  /** Asks once, under a deadline. Throws when the answer is anything but a rate for this pair. */
  readonly ask: (pair: Pair) => Promise<Sighting>
}

const scale = 100_000_000n
const plain = /^([0-9]{1,9})(?:\.([0-9]{1,20}))?$/

/**
 * Reads a source's decimal number (`4.2135`) into 10⁻⁸ units, cutting further digits. Undefined for
 * signs, exponents and anything that is no number; zero is undefined too, for no rate is zero.
 */
export function localE8From(value: unknown): bigint | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined
  const [, whole, fraction = ''] = plain.exec(String(value)) ?? []
  if (whole === undefined) return undefined
  return BigInt(whole + fraction.slice(0, 8).padEnd(8, '0')) || undefined
}

/** A rate in smallest units (`421` sen) as a sighting holds it. Exact. */
export const localE8FromMinor = (minorPerUsd: bigint, pair: Pair): bigint =>
  (minorPerUsd * scale) / minorPerMajor(pair)

/**
 * The rate a quote locks, in smallest units for one US dollar: reference × (1 + spread), rounded up
 * to a smallest unit, which happens nowhere else.
 *
 * A spread (basis points, never negative) makes a dollar dearer, whoever buys it. Who pays in gets
 * fewer AUSD for his ringgit or rupiah: the spread is ours. Who cashes out sells his AUSD at the
 * same USD/IDR rate and gets *more* rupiah: the spread is his. 1 % on USD/IDR earns 1 % of what is
 * topped up and costs 1 % of what is cashed out; where both are alike it earns nothing, and where
 * cash-outs are more, it loses. Hence 0 is the answer for USD/IDR unless it is only paid in;
 * USD/MYR is only ever paid in.
 */
export function quotedMinorPerUsdCeil(reference: Sighting, spreadBps: bigint): bigint {
  const numerator = reference.localE8PerUsd * minorPerMajor(reference.pair) * (10_000n + spreadBps)
  const denominator = scale * 10_000n
  return (numerator + denominator - 1n) / denominator
}

/** How far two rates lie apart, in basis points of the first, rounded up. */
export function distanceBpsCeil(from: Sighting, to: Sighting): bigint {
  const apart = from.localE8PerUsd - to.localE8PerUsd
  const numerator = (apart < 0n ? -apart : apart) * 10_000n
  return (numerator + from.localE8PerUsd - 1n) / from.localE8PerUsd
}

/** `2026-11-20` of a moment in UTC. */
export const dayOf = (unixMs: number): string => new Date(unixMs).toISOString().slice(0, 10)

const minorPerMajor = (pair: Pair): bigint => 10n ** BigInt(decimals[fiatOf(pair)])
