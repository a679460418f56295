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
      /** False while the rate may price only money that comes in, because the spread cannot protect cash-outs too. */
      paysOut: boolean
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
  const spreadBps = spreadOf(known.pair, guards, {
    doubtBps: doubtful ? (deviationBps ?? guards.weekendExtraBps) : null,
    restTimes: rested ? restTimesOf(nowMs - reference.asOfMs, guards) : 0n,
  })
  return {
    minorPerUsd: quotedMinorPerUsdCeil(reference, spreadBps),
    reference,
    spreadBps,
    deviationBps,
    // guard: a doubtful or old rate pays nothing out
    paysOut: !doubtful && !rested,
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

/** Longest closure of a market that is believed, in ms: Lebaran closes that of the rupiah for up to eleven days. */
const closureMaxMs = 16 * dayMs

/** Judges the age of a rate. `rested` means that it is old because of weekends and holidays. */
function ageOf({ asOfMs }: Sighting, guards: Guards, nowMs: number): 'fresh' | 'rested' | 'stale' {
  const ageMs = nowMs - asOfMs
  if (ageMs < -dayMs) return 'stale' // A rate from the future is an error of the source.
  if (ageMs <= guards.ageWeekdayMaxMs) return 'fresh'
  if (ageMs > closureMaxMs) return 'stale'
  const restMs = restMsBetween(asOfMs, nowMs, guards)
  const isOpenFor = ageMs - restMs
  if (restMs > 0 && ageMs <= guards.ageWeekendMaxMs) return 'rested'
  return isOpenFor <= guards.ageWeekdayMaxMs ? 'rested' : 'stale'
}

/** Returns the length of the weekends and holidays in a time, in ms. */
function restMsBetween(fromMs: number, toMs: number, { holidays }: Guards): number {
  let restMs = 0
  for (let atMs = fromMs - (fromMs % dayMs); atMs <= toMs; atMs += dayMs) {
    const weekday = new Date(atMs).getUTCDay()
    const isRest = weekday === 0 || weekday === 6 || holidays.has(dayOf(atMs))
    // The day of `toMs` counts at any time of day.
    if (isRest) restMs += Math.max(1, Math.min(toMs, atMs + dayMs) - Math.max(fromMs, atMs))
  }
  return restMs
}

/** Most times that the extra spread of a closed market counts. */
const restTimesMax = 3n

/** Returns how often the extra spread counts: once over a usual weekend, and once more for each day beyond. */
function restTimesOf(ageMs: number, { ageWeekendMaxMs }: Guards): bigint {
  const times = 1n + BigInt(Math.max(0, Math.ceil((ageMs - ageWeekendMaxMs) / dayMs)))
  return times < restTimesMax ? times : restTimesMax
}

function jumped({ accepted, releasedDay }: RateCase, reference: Sighting, guards: Guards): boolean {
  if (!accepted || reference.source === operatorSource || accepted.source === operatorSource) return false
  if (releasedDay === dayOf(reference.asOfMs)) return false
  return distanceBpsCeil(accepted, reference) > guards.jumpMaxBps
}

type Widening = Pick<Guards, 'spreadsBps' | 'deviationSpreadFactor' | 'deviationWidenMaxBps' | 'weekendExtraBps'>

/**
 * Returns the spread of a pair. Doubt about a rate and its age are the same risk, that the true rate is another one, so
 * the larger of the two widens it. `doubtBps` is by how much the sources differ, or null without a doubt.
 */
function spreadOf(
  pair: Pair,
  { spreadsBps, deviationSpreadFactor, weekendExtraBps }: Widening,
  { doubtBps, restTimes }: { doubtBps: bigint | null; restTimes: bigint },
): bigint {
  const baseBps = spreadsBps.get(pair) ?? 0n
  const doubtExtraBps = doubtBps === null ? 0n : larger(baseBps * (deviationSpreadFactor - 1n), doubtBps)
  return baseBps + larger(doubtExtraBps, restTimes * weekendExtraBps)
}

export const widestSpreadBps = (pair: Pair, guards: Widening): bigint =>
  spreadOf(pair, guards, {
    doubtBps: larger(guards.deviationWidenMaxBps, guards.weekendExtraBps),
    restTimes: restTimesMax,
  })

const larger = (one: bigint, other: bigint): bigint => (one > other ? one : other)
