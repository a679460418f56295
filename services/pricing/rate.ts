import { decimals } from '#shared/money/money'
import { fiatOf, type Pair } from '#shared/money/pair'

export type Sighting = {
  readonly source: string
  readonly pair: Pair
  /** Major units of local currency, times 10⁸. */
  readonly localE8PerUsd: bigint
  /** Unix ms of the rate's own date, which is midnight UTC if the source gives only a day. */
  readonly asOfMs: number
}

/** A source of rates, whose responses are untrusted and validated by a schema. */
export type RateSource = {
  readonly name: string
  readonly pairs: readonly Pair[]
  /** True if the source serves as a cross-check and is never quoted. */
  readonly checkOnly: boolean
  /** True if its market trades on every day, so that it says what a dollar costs while other markets are closed. */
  readonly neverCloses: boolean
  /** Makes one request, with a timeout. Throws on any response but a rate for this pair. */
  readonly ask: (pair: Pair) => Promise<Sighting>
}

const scale = 100_000_000n
const plain = /^([0-9]{1,9})(?:\.([0-9]{1,20}))?$/

/** Truncates a decimal number to 10⁻⁸. Returns undefined for signs, exponents, other text and zero. */
export function localE8From(value: unknown): bigint | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined
  const [, whole, fraction = ''] = plain.exec(String(value)) ?? []
  if (whole === undefined) return undefined
  return BigInt(whole + fraction.slice(0, 8).padEnd(8, '0')) || undefined
}

/** Converts minor units (`421` sen) exactly to 10⁻⁸ of the major unit. */
export const localE8FromMinor = (minorPerUsd: bigint, pair: Pair): bigint => (minorPerUsd * scale) / minorPerMajor(pair)

/**
 * Returns reference × (1 + spread), rounded up to a minor unit: the rate of money that comes in, and of all money while the
 * market is open. The README explains spreads.
 */
export function quotedMinorPerUsdCeil(reference: Sighting, spreadBps: bigint): bigint {
  const { numerator, denominator } = quotedRatio(reference, spreadBps)
  return (numerator + denominator - 1n) / denominator
}

/** Returns the same, rounded down: the rate of cash-outs while the market is closed, when the spread is negative. */
export function quotedMinorPerUsdFloor(reference: Sighting, spreadBps: bigint): bigint {
  const { numerator, denominator } = quotedRatio(reference, spreadBps)
  return numerator / denominator
}

const quotedRatio = ({ localE8PerUsd, pair }: Sighting, spreadBps: bigint) => ({
  numerator: localE8PerUsd * minorPerMajor(pair) * (10_000n + spreadBps),
  denominator: scale * 10_000n,
})

/** Returns the exact minor units per US dollar as text, such as `421.35`. */
export function minorPerUsdText({ localE8PerUsd, pair }: Sighting): string {
  const e8 = localE8PerUsd * minorPerMajor(pair)
  const fraction = (e8 % scale).toString().padStart(8, '0').replace(/0+$/, '')
  return fraction === '' ? `${e8 / scale}` : `${e8 / scale}.${fraction}`
}

/** Returns the difference in basis points of the first rate, rounded up. */
export function distanceBpsCeil(from: Sighting, to: Sighting): bigint {
  const apart = from.localE8PerUsd - to.localE8PerUsd
  const numerator = (apart < 0n ? -apart : apart) * 10_000n
  return (numerator + from.localE8PerUsd - 1n) / from.localE8PerUsd
}

/** Returns the UTC day, such as `2026-11-20`. */
export const dayOf = (unixMs: number): string => new Date(unixMs).toISOString().slice(0, 10)

const minorPerMajor = (pair: Pair): bigint => 10n ** BigInt(decimals[fiatOf(pair)])
