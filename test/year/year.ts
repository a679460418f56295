import type { Pair } from '#shared/money/pair'
import { defaultsOf } from '#test/support/settings'
import { testnetValues } from '../../infra/configuration/testnet'
import { fields, guardsFrom } from '../../services/pricing/config'
import { decideRate, type Guards, type RateVerdict } from '../../services/pricing/decide'
import { dayOf, type Sighting } from '../../services/pricing/rate'
import { dayMs, holidays, hourMs, isWeekend, marketE8At } from './market'

// The year 2025, hour by hour: the sources publish as their calendars say, at the prices of the market, and pricing's own
// decision makes each quote, with the settings of a deployment.

/** Sources without prices, to see what the others can do alone. */
export type Outage = 'open-er-api' | 'indodax'

/** Returns the guards of a deployment that has both countries' holidays and the spreads of the runbook. */
export function deploymentGuards(): Guards {
  const listed = [...holidays['USD/IDR'], ...holidays['USD/MYR']]
  const config = defaultsOf('pricing', fields, {
    DEPLOYMENT: 'test',
    RATE_SOURCES: testnetValues.get('RATE_SOURCES')!,
    SPREADS_BPS: 'USD/IDR=0,USD/MYR=50',
    RATE_HOLIDAYS: [...new Set(listed)].sort().join(','),
  })
  return guardsFrom(config)
}

/** Returns the last time up to `nowMs` at which a source published: on open days at a time of day in UTC, in ms. */
function publishedAt(nowMs: number, timeMs: number, isOpen: (dayStartMs: number) => boolean): number {
  let startMs = nowMs - (nowMs % dayMs)
  while (startMs + timeMs > nowMs || !isOpen(startMs)) startMs -= dayMs
  return startMs + timeMs
}

/** Returns the last moment up to `atMs` at which banks of the world trade. From Friday, 21:00 UTC, they do not. */
function tradingAt(atMs: number): number {
  const weekday = new Date(atMs).getUTCDay()
  const dayStartMs = atMs - (atMs % dayMs)
  if (weekday === 6) return dayStartMs - 3 * hourMs
  return weekday === 0 ? dayStartMs - 27 * hourMs : atMs
}

/** Premium of USDT over a dollar in Indonesia, in hundredths of a percent: 30 on average, and up to 30 more or less. */
const premiumBpsAt = (atMs: number): bigint => BigInt(Math.round(30 + 30 * Math.sin(atMs / (5 * dayMs))))

/** Returns what pricing has seen of each source. A central bank's rate is dated midnight of its day. */
function seenAt(pair: Pair, nowMs: number, outages: readonly Outage[]) {
  const isOpen = (startMs: number) => !isWeekend(startMs) && !holidays[pair].has(dayOf(startMs))
  // Frankfurter reads Bank Indonesia until 03:30 UTC; Bank Negara's session 1200 ends at 04:00 UTC.
  const bankMs = publishedAt(nowMs, pair === 'USD/IDR' ? 3.5 * hourMs : 5 * hourMs, isOpen)
  const sighting = (source: string, localE8PerUsd: bigint, asOfMs: number): Sighting => ({
    source,
    pair,
    localE8PerUsd,
    asOfMs,
  })
  const bank = (source: string) => sighting(source, marketE8At(pair, bankMs - hourMs / 2), bankMs - (bankMs % dayMs))
  const midnightMs = nowMs - (nowMs % dayMs)
  const check = sighting('open-er-api', marketE8At(pair, tradingAt(midnightMs)), midnightMs)
  const traded = (marketE8At(pair, nowMs) * (10_000n + premiumBpsAt(nowMs))) / 10_000n
  return {
    sightings: pair === 'USD/IDR' ? [bank('frankfurter')] : [bank('frankfurter'), bank('bnm')],
    checks: outages.includes('open-er-api') ? [] : [check],
    trades: pair === 'USD/IDR' && !outages.includes('indodax') ? [sighting('indodax', traded, nowMs)] : [],
    sourcesWanted: 3,
  }
}

export type Hour = { readonly atMs: number; readonly verdict: RateVerdict }

/** Plays the hours of 2025 for a pair. The rate in use is the reference of the next jump, as in the service. */
export function playYear(pair: Pair, outages: readonly Outage[] = []): Hour[] {
  const guards = deploymentGuards()
  const hours: Hour[] = []
  let accepted: Sighting | null = null
  for (let atMs = Date.UTC(2025, 0, 1); atMs < Date.UTC(2026, 0, 1); atMs += hourMs) {
    const known = { pair, ...seenAt(pair, atMs, outages), accepted, releasedDay: undefined }
    const verdict = decideRate(known, guards, atMs)
    if ('reference' in verdict) accepted = verdict.reference
    hours.push({ atMs, verdict })
  }
  return hours
}

/** Counts the hours without a quote, by reason. */
export function closedHours(hours: readonly Hour[], direction: 'payIn' | 'payOut'): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { verdict } of hours) {
    const isQuoted = 'state' in verdict && verdict[direction] !== null
    const reason = 'state' in verdict ? verdict.state : verdict.unavailable
    if (!isQuoted) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  }
  return counts
}

/** A quote, and what it gains by the first rate of the open market after it, in hundredths of a percent. */
export type Wait = { readonly atMs: number; readonly gainBps: number }

/**
 * Returns the gain of each hour for an attacker who knows the next rate: for money that comes in, the dollars are worth that
 * rate; for a cash-out, they cost it. `closed` has the hours of a closed or doubtful market, whose next rate is that of the
 * reopening; `open` the others, whose next rate is that of the next day. A negative gain is a loss.
 */
export function waits(hours: readonly Hour[], direction: 'payIn' | 'payOut', market: 'open' | 'closed'): Wait[] {
  const found: Wait[] = []
  let next: Sighting | undefined
  let following: Sighting | undefined
  for (const { atMs, verdict } of hours.toReversed()) {
    if (!('state' in verdict)) continue
    const isOpen = verdict.state === 'market_open'
    if (isOpen && verdict.reference.asOfMs !== next?.asOfMs) [next, following] = [verdict.reference, next]
    const reopening = isOpen ? following : next
    const rate = verdict[direction]
    if (!reopening || !rate || isOpen !== (market === 'open')) continue
    const scale = verdict.reference.pair === 'USD/IDR' ? 100_000_000n : 1_000_000n
    const quoted = rate.minorPerUsd * scale
    const [got, given] = direction === 'payIn' ? [reopening.localE8PerUsd, quoted] : [quoted, reopening.localE8PerUsd]
    found.push({ atMs, gainBps: Number(((got - given) * 100_000n) / given) / 10 })
  }
  return found.reverse()
}

/** Returns the best wait of each day in Jakarta, which is how often a daily limit can be used. */
export function bestOfDays(all: readonly Wait[]): Wait[] {
  const best = new Map<string, Wait>()
  for (const wait of all) {
    const day = dayOf(wait.atMs + 7 * hourMs)
    if (wait.gainBps > (best.get(day)?.gainBps ?? Number.NEGATIVE_INFINITY)) best.set(day, wait)
  }
  return [...best.values()]
}

/** Returns what the best waits of all days cost if each uses the whole limit of its day, in whole US dollars. */
export const costUsd = (days: readonly Wait[], limitUsd: number): number =>
  Math.round(days.reduce((sum, { gainBps }) => sum + Math.max(0, gainBps), 0) * (limitUsd / 10_000))
