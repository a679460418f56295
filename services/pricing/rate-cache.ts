import { pause } from '#platform/deadline'
import type { Log } from '#platform/log'
import { startLoop } from '#platform/loop'
import { type Pair, pairs } from '#shared/money/pair'
import type { Context } from './context'
import { decideRate, isFromFuture, isStale, operatorSource, type RateCase, type RateVerdict } from './decide'
import type { RateSource, Sighting } from './rate'

export type RateCache = AsyncDisposable & {
  /** Returns the rate of a pair. It decides on every call, so that a rate that has become too old is refused. */
  readonly rateOf: (pair: Pair) => RateVerdict
  readonly poll: () => Promise<void>
  readonly figures: () => Readonly<Record<string, RateFigure>>
}

export async function openRateCache(context: Context): Promise<RateCache> {
  const { pollMs, log } = context
  const cache = makeCache(context)
  await cache.recall()
  await cache.poll()
  // The next poll comes sooner after a failure. The jitter keeps instances from polling at the same time.
  const restMs = () => (cache.healthy() ? pollMs : pollMs / 10) * (0.8 + Math.random() * 0.4)
  const loop = startLoop({
    name: 'rate sources',
    everyMs: 0, // The loop has no interval because `work` pauses by itself.
    log,
    work: async (signal) => {
      await pause(restMs(), signal)
      if (!signal.aborted) await cache.poll()
    },
  })
  return { ...cache, [Symbol.asyncDispose]: loop[Symbol.asyncDispose] }
}

type Memory = {
  seen: Map<string, Sighting>
  /** The last used rate of each pair for which the bucket answered, null if it had none. */
  accepted: Map<Pair, Sighting | null>
  released: Map<Pair, string>
  failures: number
}
const keyOf = (source: string, pair: Pair) => `${source} ${pair}`

function makeCache(context: Context) {
  const { sources, clock } = context
  const memory: Memory = { seen: new Map(), accepted: new Map(), released: new Map(), failures: 0 }
  const each = (work: (source: RateSource, pair: Pair) => Promise<void>) =>
    Promise.all(sources.flatMap((source) => source.pairs.map((pair) => work(source, pair))))
  const rateOf = (pair: Pair) => decide(context, memory, pair)
  return {
    rateOf,
    healthy: () => memory.failures === 0,
    recall: () => each((source, pair) => recall(context, memory, source, pair)),
    poll: async () => {
      memory.failures = 0
      await each((source, pair) => askSource(context, memory, source, pair))
      for (const pair of pairs) await accept(context, memory, pair)
    },
    figures: () => Object.fromEntries(pairs.map((pair) => [pair, figureOf(rateOf(pair), clock())])),
  }
}

function decide(context: Context, memory: Memory, pair: Pair): RateVerdict {
  const asked = context.sources.filter((source) => source.pairs.includes(pair))
  const seenBy = (sources: readonly RateSource[]) =>
    sources.flatMap((source) => memory.seen.get(keyOf(source.name, pair)) ?? [])
  const last = memory.accepted.get(pair)
  const known: RateCase = {
    pair,
    sightings: seenBy(asked.filter((source) => !source.checkOnly)),
    checks: seenBy(asked.filter((source) => source.checkOnly && !source.neverCloses)),
    trades: seenBy(asked.filter((source) => source.neverCloses)),
    sourcesWanted: asked.length,
    accepted: last === undefined ? 'unread' : last,
    releasedDay: memory.released.get(pair),
  }
  return decideRate(known, context.guards, context.clock())
}

/** Returns the result, or undefined and logs the failure. */
async function tryStore<T>(log: Log, work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    log.warn({ err: error }, 'the rates bucket cannot be read or written')
    return undefined
  }
}

async function recall({ rates, log }: Context, { seen }: Memory, source: RateSource, pair: Pair): Promise<void> {
  const last = await tryStore(log, rates.recall(source.name, pair))
  if (last) seen.set(keyOf(source.name, pair), last)
}

async function askSource(context: Context, memory: Memory, source: RateSource, pair: Pair): Promise<void> {
  const { rates, log, clock, guards } = context
  const key = keyOf(source.name, pair)
  try {
    const sighting = await source.ask(pair)
    // An operator's rate is always dated now, by the clock of the instance.
    const isDated = source.name !== operatorSource
    const known = memory.seen.get(key)
    const stored = isDated ? await tryStore(log, rates.recall(source.name, pair)) : (known ?? null)
    const nowMs = clock()
    const before = newer(known, stored ?? undefined, nowMs)
    // The copies of a source may answer in turn, and instances may ask different ones: a user could choose between two rates.
    // One that is too old shows that the source has stopped: then neither of them counts.
    // guard: a rate is never followed by an older one of its source
    if (before && newer(sighting, before, nowMs) === before && !isStale(sighting, guards, nowMs)) {
      memory.seen.set(key, before)
      log.warn({ source: source.name, pair, asOf: new Date(sighting.asOfMs).toISOString() }, 'older rate ignored')
      return
    }
    memory.seen.set(key, sighting)
    // One that could not be read may be newer.
    if (stored !== undefined && !same(stored, sighting)) await tryStore(log, rates.remember(sighting))
  } catch (error) {
    memory.failures += 1
    log.warn({ source: source.name, pair, err: error }, 'rate source failed')
  }
}

/** Returns the newer of two rates of a source, or `one` at the same time. One from the future is an error, and the other counts. */
function newer(one: Sighting | undefined, other: Sighting | undefined, nowMs: number): Sighting | undefined {
  if (!one || !other) return one ?? other
  if (isFromFuture(other, nowMs)) return one
  return isFromFuture(one, nowMs) || other.asOfMs > one.asOfMs ? other : one
}

/** Records the rate in use once per poll, as the reference for the next jump. */
async function accept(context: Context, memory: Memory, pair: Pair): Promise<void> {
  const { rates, log } = context
  const last = await tryStore(log, rates.findAccepted(pair))
  if (last || (last === null && !memory.accepted.has(pair))) memory.accepted.set(pair, last)
  const day = await tryStore(log, rates.findReleasedDay(pair))
  if (day) memory.released.set(pair, day)
  const verdict = decide(context, memory, pair)
  if ('unavailable' in verdict) {
    memory.failures += 1
    log.alarm({ pair, reason: verdict.unavailable }, 'no rate to quote')
    return
  }
  const { reference, warnings } = verdict
  if (warnings.length > 0) log.warn({ pair, warnings }, 'rate used with warnings')
  if (same(memory.accepted.get(pair), reference)) return
  memory.accepted.set(pair, reference)
  await tryStore(log, rates.accept(reference))
}

/** Returns true if the rate is unchanged. An operator's rate always has a new date, so only its value counts. */
const same = (before: Sighting | null | undefined, now: Sighting): boolean =>
  before?.source === now.source &&
  before.localE8PerUsd === now.localE8PerUsd &&
  (now.source === operatorSource || before.asOfMs === now.asOfMs)

type RateFigure = ReturnType<typeof figureOf>

function figureOf(verdict: RateVerdict, nowMs: number) {
  if ('unavailable' in verdict) return verdict
  const { state, reference, payIn, payOut, deviationBps, warnings } = verdict
  return {
    rate: payIn.minorPerUsd.toString(),
    state,
    source: reference.source,
    asOf: new Date(reference.asOfMs).toISOString(),
    ageMs: nowMs - reference.asOfMs,
    spreadBps: Number(payIn.spreadBps),
    deviationBps: deviationBps === null ? null : Number(deviationBps),
    cashoutRate: payOut?.minorPerUsd.toString() ?? null,
    warnings,
  }
}
