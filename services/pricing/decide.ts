import type { Pair } from '#shared/money/pair'
import { dayOf, distanceBpsCeil, quotedMinorPerUsdCeil, type Sighting } from './rate'

/**
 * Limits that a rate must keep. Bands are in smallest units of the local currency per US dollar.
 */
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
  /** Days (`2026-12-25`) on which sources rest, besides Saturdays and Sundays. */
  readonly holidays: ReadonlySet<string>
}

export type RateVerdict =
  | {
      minorPerUsd: bigint
      reference: Sighting
      spreadBps: bigint
      /** Null when no other source is fresh. */
      deviationBps: bigint | null
      warnings: readonly string[]
    }
  | { unavailable: string }

/** What is known of a pair when its rate is decided. */
export type RateCase = {
  pair: Pair
  /** One per source whose rate may be quoted for this pair, in the order of trust. */
  sightings: readonly Sighting[]
  /** Of sources that may only be compared with. */
  checks: readonly Sighting[]
  /** How many sources should have one. */
  sourcesWanted: number
  /** The last rate we used, and the day for which an operator released a jump. */
  accepted: Sighting | undefined
  releasedDay: string | undefined
}

/** The name of the source whose rates an operator sets: they jump when told to. */
export const operatorSource = 'fixed'

/** Decides the rate of a pair, or why there is none. Never a guess: every doubt is a refusal. */
export function decideRate(known: RateCase, guards: Guards, nowMs: number): RateVerdict {
  const isUsable = (sighting: Sighting) =>
    inBand(sighting, guards) && ageOf(sighting, guards, nowMs) !== 'stale'
  const [reference, ...others] = known.sightings.filter(isUsable)
  if (!reference) return { unavailable: 'no source has a rate that is fresh and within its band' }
  const distances = [...others, ...known.checks.filter(isUsable)].map((other) =>
    distanceBpsCeil(reference, other),
  )
  const deviationBps = distances.reduce<bigint | null>(
    (most, bps) => (most === null || bps > most ? bps : most),
    null,
  )
  if (deviationBps !== null && deviationBps > guards.deviationWidenMaxBps)
    return { unavailable: `sources lie ${deviationBps} bps apart` }
  if (jumped(known, reference, guards))
    return { unavailable: `the rate of ${dayOf(reference.asOfMs)} jumped and waits for release` }
  const doubtful =
    deviationBps === null ? known.sourcesWanted > 1 : deviationBps > guards.deviationUseMaxBps
  const rested = ageOf(reference, guards, nowMs) === 'rested'
  const spreadBps = spreadOf(known.pair, guards, { doubtful, rested })
  return {
    minorPerUsd: quotedMinorPerUsdCeil(reference, spreadBps),
    reference,
    spreadBps,
    deviationBps,
    warnings: doubtful
      ? [deviationBps === null ? 'no cross-check' : `${deviationBps} bps apart`]
      : [],
  }
}

function inBand(sighting: Sighting, { bands }: Guards): boolean {
  const band = bands.get(sighting.pair)
  // Exactly 1 is what a source answers that lost the quote currency.
  if (!band || sighting.localE8PerUsd === 100_000_000n) return false
  const minorPerUsd = quotedMinorPerUsdCeil(sighting, 0n)
  return minorPerUsd >= band.min && minorPerUsd <= band.max
}

const dayMs = 86_400_000

/**
 * `rested`: older than a weekday allows, yet the newest there can be after days without markets.
 */
function ageOf({ asOfMs }: Sighting, guards: Guards, nowMs: number): 'fresh' | 'rested' | 'stale' {
  const ageMs = nowMs - asOfMs
  if (ageMs < -dayMs) return 'stale' // A date in the future is a source gone wrong.
  if (ageMs <= guards.ageWeekdayMaxMs) return 'fresh'
  return ageMs <= guards.ageWeekendMaxMs && spansRest(asOfMs, nowMs, guards) ? 'rested' : 'stale'
}

function spansRest(fromMs: number, toMs: number, { holidays }: Guards): boolean {
  for (let atMs = fromMs; atMs <= toMs; atMs += dayMs) {
    const weekday = new Date(atMs).getUTCDay()
    if (weekday === 0 || weekday === 6 || holidays.has(dayOf(atMs))) return true
  }
  return holidays.has(dayOf(toMs))
}

function jumped({ accepted, releasedDay }: RateCase, reference: Sighting, guards: Guards): boolean {
  if (!accepted || reference.source === operatorSource || accepted.source === operatorSource)
    return false
  if (releasedDay === dayOf(reference.asOfMs)) return false
  return distanceBpsCeil(accepted, reference) > guards.jumpMaxBps
}

/**
 * One rate of USD/IDR serves both directions, so what a wider spread takes from payers it would
 * give to payees: only a pair that is never paid out is widened.
 */
function spreadOf(
  pair: Pair,
  guards: Pick<Guards, 'spreadsBps' | 'deviationSpreadFactor' | 'weekendExtraBps'>,
  state: { doubtful: boolean; rested: boolean },
): bigint {
  const baseBps = guards.spreadsBps.get(pair) ?? 0n
  if (pair === 'USD/IDR') return baseBps
  const widenedBps = state.doubtful ? baseBps * guards.deviationSpreadFactor : baseBps
  return state.rested ? widenedBps + guards.weekendExtraBps : widenedBps
}

/** The widest that the spread of a pair gets, in basis points. */
export const widestSpreadBps = (pair: Pair, guards: Parameters<typeof spreadOf>[1]): bigint =>
  spreadOf(pair, guards, { doubtful: true, rested: true })
