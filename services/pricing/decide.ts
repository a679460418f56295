import type { Pair } from '#shared/money/pair'
import { dayOf, distanceBpsCeil, quotedMinorPerUsdCeil, type Sighting } from './rate'

/** Limits of the decision. Bands are in minor units of the local currency per US dollar. */
export type Guards = {
  readonly ageWeekdayMaxMs: number
  readonly ageWeekendMaxMs: number
  readonly deviationUseMaxBps: bigint
  readonly deviationWidenMaxBps: bigint
  readonly deviationSpreadFactor: bigint
  readonly jumpMaxBps: bigint
  readonly weekendExtraBps: bigint
  readonly bands: ReadonlyMap<Pair, { min: bigint; max: bigint }>
  readonly spreadsBps: ReadonlyMap<Pair, bigint>
  /** Days (`2026-12-25`) besides weekends on which there are no new rates. */
  readonly holidays: ReadonlySet<string>
}

export type RateVerdict =
  | {
      minorPerUsd: bigint
      reference: Sighting
      spreadBps: bigint
      deviationBps: bigint | null
      warnings: readonly string[]
    }
  | { unavailable: string }

export type RateCase = {
  pair: Pair
  /** Rates of the quotable sources, one per source, in order of trust. */
  sightings: readonly Sighting[]
  /** Rates of sources that may only be used as a cross-check. */
  checks: readonly Sighting[]
  sourcesWanted: number
  /** The last used rate. `releasedDay` is the day for which an operator released a jump. */
  accepted: Sighting | undefined
  releasedDay: string | undefined
}

/** Source of the rates that an operator configures, which are exempt from the jump limit. */
export const operatorSource = 'fixed'

export function decideRate(known: RateCase, guards: Guards, nowMs: number): RateVerdict {
  const isUsable = (sighting: Sighting) =>
    // guard: a rate is not too old
    inBand(sighting, guards) && ageOf(sighting, guards, nowMs) !== 'stale'
  const [reference, ...others] = known.sightings.filter(isUsable)
  if (!reference) return { unavailable: 'no source has a fresh rate within its band' }
  const distances = [...others, ...known.checks.filter(isUsable)].map((other) => distanceBpsCeil(reference, other))
  const deviationBps = distances.reduce<bigint | null>((most, bps) => (most === null || bps > most ? bps : most), null)
  // guard: a rate is close to those of other sources
  if (deviationBps !== null && deviationBps > guards.deviationWidenMaxBps)
    return { unavailable: `sources differ by ${deviationBps} bps` }
  // guard: a rate jump needs manual review
  if (jumped(known, reference, guards))
    return {
      unavailable: `the rate of ${dayOf(reference.asOfMs)} jumped and needs release by an operator`,
    }
  const doubtful = deviationBps === null ? known.sourcesWanted > 1 : deviationBps > guards.deviationUseMaxBps
  const rested = ageOf(reference, guards, nowMs) === 'rested'
  const doubt = deviationBps === null ? 'no cross-check' : `sources differ by ${deviationBps} bps`
  // No spread protects a rate used in both directions, so a doubt refuses it.
  if (isPaidOut(known.pair) && (doubtful || rested))
    return { unavailable: doubtful ? doubt : 'the rate is older than a weekday' }
  const spreadBps = spreadOf(known.pair, guards, { doubtful, rested })
  return {
    minorPerUsd: quotedMinorPerUsdCeil(reference, spreadBps),
    reference,
    spreadBps,
    deviationBps,
    warnings: doubtful ? [doubt] : [],
  }
}

function inBand(sighting: Sighting, { bands }: Guards): boolean {
  const band = bands.get(sighting.pair)
  // A rate of exactly 1 means that the source ignored the quote currency.
  if (!band || sighting.localE8PerUsd === 100_000_000n) return false
  const minorPerUsd = quotedMinorPerUsdCeil(sighting, 0n)
  // guard: a rate is within its band
  return minorPerUsd >= band.min && minorPerUsd <= band.max
}

const dayMs = 86_400_000

/** Judges the age of a rate. `rested` means that it is old because of a weekend or holiday. */
function ageOf({ asOfMs }: Sighting, guards: Guards, nowMs: number): 'fresh' | 'rested' | 'stale' {
  const ageMs = nowMs - asOfMs
  if (ageMs < -dayMs) return 'stale' // A rate from the future is an error of the source.
  if (ageMs <= guards.ageWeekdayMaxMs) return 'fresh'
  return ageMs <= guards.ageWeekendMaxMs && spansRest(asOfMs, nowMs, guards) ? 'rested' : 'stale'
}

function spansRest(fromMs: number, toMs: number, { holidays }: Guards): boolean {
  // The days are counted from midnight, so that the day of `toMs` counts at any time of day.
  for (let atMs = fromMs - (fromMs % dayMs); atMs <= toMs; atMs += dayMs) {
    const weekday = new Date(atMs).getUTCDay()
    if (weekday === 0 || weekday === 6 || holidays.has(dayOf(atMs))) return true
  }
  return false
}

function jumped({ accepted, releasedDay }: RateCase, reference: Sighting, guards: Guards): boolean {
  if (!accepted || reference.source === operatorSource || accepted.source === operatorSource) return false
  if (releasedDay === dayOf(reference.asOfMs)) return false
  return distanceBpsCeil(accepted, reference) > guards.jumpMaxBps
}

/** Returns true for the pair whose rate cash-outs use too. */
const isPaidOut = (pair: Pair): boolean => pair === 'USD/IDR'

function spreadOf(
  pair: Pair,
  guards: Pick<Guards, 'spreadsBps' | 'deviationSpreadFactor' | 'weekendExtraBps'>,
  state: { doubtful: boolean; rested: boolean },
): bigint {
  const baseBps = guards.spreadsBps.get(pair) ?? 0n
  if (isPaidOut(pair)) return baseBps
  const widenedBps = state.doubtful ? baseBps * guards.deviationSpreadFactor : baseBps
  return state.rested ? widenedBps + guards.weekendExtraBps : widenedBps
}

export const widestSpreadBps = (pair: Pair, guards: Parameters<typeof spreadOf>[1]): bigint =>
  spreadOf(pair, guards, { doubtful: true, rested: true })
