import { type RateState, rateStates } from '#shared/messages/pricing'
import { dayEndMs } from '#shared/money/day'
import type { Pair } from '#shared/money/pair'
import { dayOf, distanceBpsCeil, quotedMinorPerUsdCeil, quotedMinorPerUsdFloor, type Sighting } from './rate'

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

/** A rate with its spread, in basis points of the reference: above it, or below it if the spread is negative. */
export type SpreadRate = { readonly minorPerUsd: bigint; readonly spreadBps: bigint }

export type RateVerdict =
  | {
      /** Why the spread is as wide as it is. */
      state: RateState
      reference: Sighting
      deviationBps: bigint | null
      /** Rate of money that comes in. */
      payIn: SpreadRate
      /** Rate of cash-outs: the same while the market is open, a lower one while it is closed, or none. */
      payOut: SpreadRate | null
      warnings: readonly string[]
    }
  | { unavailable: string }

export type RateCase = {
  pair: Pair
  /** Rates of the quotable sources, one per source, in order of trust. */
  sightings: readonly Sighting[]
  /** Rates of sources that may only be used as a cross-check. */
  checks: readonly Sighting[]
  /** Rates of markets that never close, which are cross-checks, too. */
  trades: readonly Sighting[]
  sourcesWanted: number
  /**
   * The last used rate: null if there is none, and `unread` until it could be read. `releasedDay` is the day for which an
   * operator released a jump.
   */
  accepted: Sighting | null | 'unread'
  releasedDay: string | undefined
}

/** Source of the rates that an operator configures, which are exempt from the jump limit. */
export const operatorSource = 'fixed'

export function decideRate(known: RateCase, guards: Guards, nowMs: number): RateVerdict {
  const isUsable = (sighting: Sighting) =>
    // guard: a rate is not too old
    inBand(sighting, guards) && !isStale(sighting, guards, nowMs)
  const [reference, ...others] = known.sightings.filter(isUsable)
  if (!reference) return { unavailable: 'no source has a fresh rate within its band' }
  const trades = known.trades.filter((trade) => inBand(trade, guards) && isOfNow(trade, nowMs))
  const isNear = (other: Sighting) => distanceBpsCeil(reference, other) <= guards.deviationUseMaxBps
  const compared = [...others, ...known.checks.filter(isUsable), ...trades]
  const deviationBps = compared
    .map((other) => distanceBpsCeil(reference, other))
    .reduce<bigint | null>((most, bps) => (most === null || bps > most ? bps : most), null)
  const isClosed = isMarketClosed(reference, guards, nowMs)
  const isOutvoted = !isClosed && compared.some(isNear)
  // guard: a rate is close to those of other sources
  if (deviationBps !== null && deviationBps > guards.deviationWidenMaxBps && !isOutvoted)
    return { unavailable: `sources differ by ${deviationBps} bps` }
  const isReleased = reference.source === operatorSource || known.releasedDay === dayOf(reference.asOfMs)
  // guard: no rate is used before the last used one is known
  if (known.accepted === 'unread' && !isReleased)
    return { unavailable: 'the last used rate cannot be read from the rates bucket' }
  // guard: a rate jump needs manual review
  if (!isReleased && jumped(known.accepted, reference, guards))
    return {
      unavailable: `the rate of ${dayOf(reference.asOfMs)} jumped and needs release by an operator`,
    }
  const state = stateOf(deviationBps, { isClosed, isAlone: known.sourcesWanted === 1 }, guards)
  const risk = { deviationBps, restTimes: isClosed ? restTimesOf(nowMs - reference.asOfMs, guards) : 0n }
  const spreadBps = payInSpreadBps(known.pair, state, risk, guards)
  const payIn = { minorPerUsd: quotedMinorPerUsdCeil(reference, spreadBps), spreadBps }
  return {
    state,
    reference,
    deviationBps,
    payIn,
    payOut: payOutOf({ state, reference, payIn, isTraded: trades.some(isNear) }, risk, guards),
    warnings: warningsOf(state, deviationBps),
  }
}

/** How a state of a rate changes its price. The README has this table in words. */
type StateRule = {
  /** Adds to the spread of money that comes in, given the spread of the pair. Basis points. */
  readonly extraBps: (risk: Risk, guards: Widening, baseBps: bigint) => bigint
  /** `any` at the same rate, `capped` at a lower rate and up to a daily sum, or none. */
  readonly cashouts: 'any' | 'capped' | 'none'
}

/** Doubts about a rate: how far other sources differ, and how often the extra spread of a closed market counts. */
type Risk = { readonly deviationBps: bigint | null; readonly restTimes: bigint }

/** Age and doubt are the same risk, that the true rate is another one, so the larger of the two counts. */
const rules: Readonly<Record<RateState, StateRule>> = {
  market_open: { extraBps: () => 0n, cashouts: 'any' },
  market_closed: {
    extraBps: ({ deviationBps, restTimes }, { weekendExtraBps }) =>
      larger(restTimes * weekendExtraBps, deviationBps ?? 0n),
    cashouts: 'capped',
  },
  no_cross_check: {
    extraBps: ({ restTimes }, { weekendExtraBps, deviationSpreadFactor }, baseBps) =>
      larger(baseBps * (deviationSpreadFactor - 1n), larger(restTimes, 1n) * weekendExtraBps),
    cashouts: 'none',
  },
  sources_differ: {
    extraBps: ({ deviationBps, restTimes }, guards, baseBps) => {
      const { weekendExtraBps, deviationSpreadFactor, deviationWidenMaxBps } = guards
      const differenceBps = smaller(deviationBps ?? 0n, deviationWidenMaxBps)
      return larger(larger(baseBps * (deviationSpreadFactor - 1n), differenceBps), restTimes * weekendExtraBps)
    },
    cashouts: 'none',
  },
}

function stateOf(
  deviationBps: bigint | null,
  { isClosed, isAlone }: { isClosed: boolean; isAlone: boolean },
  { deviationUseMaxBps }: Guards,
): RateState {
  if (deviationBps !== null && deviationBps > deviationUseMaxBps) return 'sources_differ'
  if (deviationBps === null && !isAlone) return 'no_cross_check'
  return isClosed ? 'market_closed' : 'market_open'
}

const payInSpreadBps = (pair: Pair, state: RateState, risk: Risk, guards: Widening): bigint => {
  const baseBps = guards.spreadsBps.get(pair) ?? 0n
  return baseBps + rules[state].extraBps(risk, guards, baseBps)
}

/**
 * Returns the rate of cash-outs. While the market is closed it is below the reference by as much as the extra spread of
 * money that comes in is above it, and there is one only if a market that never closes confirms the reference.
 */
function payOutOf(
  rate: { state: RateState; reference: Sighting; payIn: SpreadRate; isTraded: boolean },
  risk: Risk,
  guards: Guards,
): SpreadRate | null {
  const { state, reference, payIn, isTraded } = rate
  const { cashouts, extraBps } = rules[state]
  // guard: a doubtful rate pays nothing out
  if (cashouts === 'none') return null
  if (cashouts === 'any') return payIn
  // guard: while the market is closed, a rate that no open market confirms pays nothing out
  if (!isTraded) return null
  // A spread below 0 is how payouts knows a cash-out of a closed market.
  // guard: while the market is closed, a cash-out is priced below the reference
  const spreadBps = -larger(extraBps(risk, guards, 0n), 1n)
  return { minorPerUsd: quotedMinorPerUsdFloor(reference, spreadBps), spreadBps }
}

function warningsOf(state: RateState, deviationBps: bigint | null): string[] {
  if (state === 'no_cross_check') return ['no cross-check']
  return state === 'sources_differ' ? [`sources differ by ${deviationBps} bps`] : []
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

/** Returns true for a time that no source can have yet: it is an error. A source that gives only a day may be half a day ahead. */
export const isFromFuture = ({ asOfMs }: Pick<Sighting, 'asOfMs'>, nowMs: number): boolean => asOfMs - nowMs > dayMs

/** Returns true for a rate that is too old. Weekends and holidays allow an older one. */
export function isStale({ asOfMs }: Sighting, guards: Guards, nowMs: number): boolean {
  const ageMs = nowMs - asOfMs
  if (isFromFuture({ asOfMs }, nowMs)) return true
  if (ageMs <= guards.ageWeekdayMaxMs) return false
  if (ageMs > closureMaxMs) return true
  const restMs = restMsBetween(asOfMs, nowMs, guards)
  if (restMs > 0 && ageMs <= guards.ageWeekendMaxMs) return false
  return ageMs - restMs > guards.ageWeekdayMaxMs
}

/**
 * Returns true if the market of the rate is closed: from the start of a weekend or listed holiday, in the country of the money,
 * until there is a rate of a later day. A rate of a listed holiday proves that its own market was open, because the list has the
 * holidays of both countries.
 */
function isMarketClosed({ source, pair, asOfMs }: Sighting, guards: Guards, nowMs: number): boolean {
  if (source === operatorSource) return false // A configured rate has no market.
  if (nowMs - asOfMs > guards.ageWeekdayMaxMs) return true
  for (let startMs = dayEndMs(pair, asOfMs); startMs <= nowMs; startMs += dayMs) {
    // guard: the market is closed from the first day without rates after the day of the rate
    if (isRestDay(startMs + dayMs / 2, guards)) return true
  }
  return false
}

/** Returns true for a weekend or a listed holiday. `atMs` is a time whose day in UTC is that of the country, such as noon. */
function isRestDay(atMs: number, { holidays }: Guards): boolean {
  const weekday = new Date(atMs).getUTCDay()
  return weekday === 0 || weekday === 6 || holidays.has(dayOf(atMs))
}

/** Longest age of a rate of a market that never closes, in ms. An older one is of another moment. */
const tradeAgeMaxMs = 2 * 3_600_000

const isOfNow = ({ asOfMs }: Sighting, nowMs: number): boolean => Math.abs(nowMs - asOfMs) <= tradeAgeMaxMs

/** Returns the length of the weekends and holidays in a time, in ms. */
function restMsBetween(fromMs: number, toMs: number, guards: Guards): number {
  let restMs = 0
  for (let atMs = fromMs - (fromMs % dayMs); atMs <= toMs; atMs += dayMs) {
    // The day of `toMs` counts at any time of day.
    if (isRestDay(atMs, guards)) restMs += Math.max(1, Math.min(toMs, atMs + dayMs) - Math.max(fromMs, atMs))
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

function jumped(accepted: RateCase['accepted'], reference: Sighting, guards: Guards): boolean {
  if (accepted === null || accepted === 'unread' || accepted.source === operatorSource) return false
  return distanceBpsCeil(accepted, reference) > guards.jumpMaxBps
}

type Widening = Pick<
  Guards,
  'spreadsBps' | 'deviationSpreadFactor' | 'deviationUseMaxBps' | 'deviationWidenMaxBps' | 'weekendExtraBps'
>

/** Returns the published spreads of a pair: of money that comes in, narrowest and widest in each state. Basis points. */
export function spreadCurve(pair: Pair, guards: Widening) {
  const { deviationUseMaxBps, deviationWidenMaxBps } = guards
  const differing = { deviationBps: deviationUseMaxBps + 1n, restTimes: 0n }
  const bounds: Record<RateState, readonly [Risk, Risk]> = {
    market_open: [calm, calm],
    market_closed: [
      { ...calm, restTimes: 1n },
      { deviationBps: deviationUseMaxBps, restTimes: restTimesMax },
    ],
    no_cross_check: [calm, { ...calm, restTimes: restTimesMax }],
    sources_differ: [differing, { deviationBps: deviationWidenMaxBps, restTimes: restTimesMax }],
  }
  return rateStates.map((state) => {
    const [least, most] = bounds[state].map((risk) => payInSpreadBps(pair, state, risk, guards)) as [bigint, bigint]
    return {
      pair,
      state,
      spreadBpsMin: least,
      spreadBpsMax: most,
      cashouts: pair === 'USD/IDR' ? rules[state].cashouts : 'none',
    }
  })
}

const calm: Risk = { deviationBps: 0n, restTimes: 0n }

export const widestSpreadBps = (pair: Pair, guards: Widening): bigint =>
  spreadCurve(pair, guards).reduce((widest, { spreadBpsMax }) => larger(widest, spreadBpsMax), 0n)

const larger = (one: bigint, other: bigint): bigint => (one > other ? one : other)
const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other)
