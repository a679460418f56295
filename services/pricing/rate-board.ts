import type { Clock } from '#shared/clock'
import { pause } from '#shared/deadline'
import type { Log } from '#shared/log'
import { type Pair, pairs } from '#shared/money/pair'
import type { RateStore } from './rate.store.ts'
import type { Sighting } from './rate.ts'
import { decideRate, type Guards, operatorSource, type RateVerdict } from './rate-guard.ts'
import type { RateSource } from './rate-source.ts'

export type RateBoard = AsyncDisposable & {
  /** Decided anew at every call: a rate that grows too old is refused by itself. */
  readonly rateOf: (pair: Pair) => RateVerdict
  readonly poll: () => Promise<void>
  readonly figures: () => Record<string, unknown>
}

export type RateBoardOptions = {
  /** In the order of trust. */
  sources: readonly RateSource[]
  guards: Guards
  store: RateStore
  pollMs: number
  clock: Clock
  log: Log
}

/** Opens the board: remembers what was last seen, asks once, then again and again with jitter. */
export async function openRateBoard(options: RateBoardOptions): Promise<RateBoard> {
  const board = makeBoard(options)
  await board.recall()
  await board.poll()
  const stop = new AbortController()
  const ended = (async () => {
    for (;;) {
      // After a failure sooner, and never all copies at the same moment.
      const restMs =
        (board.healthy() ? options.pollMs : options.pollMs / 10) * (0.8 + Math.random() * 0.4)
      await pause(restMs, stop.signal)
      if (stop.signal.aborted) return
      await board.poll()
    }
  })()
  return {
    ...board,
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await ended
    },
  }
}

type Memory = {
  seen: Map<string, Sighting>
  accepted: Map<Pair, Sighting>
  released: Map<Pair, string>
  failures: number
}
const keyOf = (source: string, pair: Pair) => `${source} ${pair}`

function makeBoard(options: RateBoardOptions) {
  const { sources, clock } = options
  const memory: Memory = { seen: new Map(), accepted: new Map(), released: new Map(), failures: 0 }
  const each = (work: (source: RateSource, pair: Pair) => Promise<void>) =>
    Promise.all(sources.flatMap((source) => source.pairs.map((pair) => work(source, pair))))
  const rateOf = (pair: Pair) => decide(options, memory, pair)
  return {
    rateOf,
    healthy: () => memory.failures === 0,
    recall: () => each((source, pair) => recall(options, memory, source, pair)),
    poll: async () => {
      memory.failures = 0
      await each((source, pair) => askSource(options, memory, source, pair))
      for (const pair of pairs) await settle(options, memory, pair)
    },
    figures: () => Object.fromEntries(pairs.map((pair) => [pair, figureOf(rateOf(pair), clock())])),
  }
}

function decide(options: RateBoardOptions, memory: Memory, pair: Pair): RateVerdict {
  const asked = options.sources.filter((source) => source.pairs.includes(pair))
  const known = {
    pair,
    sightings: asked.flatMap((source) => memory.seen.get(keyOf(source.name, pair)) ?? []),
    sourcesWanted: asked.length,
    accepted: memory.accepted.get(pair),
    releasedDay: memory.released.get(pair),
  }
  return decideRate(known, options.guards, options.clock())
}

/** The bucket only saves what a restart would forget: without it the board goes on. */
async function tryStore<T>(log: Log, work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    log.warn({ err: error }, 'rates bucket did not answer')
    return undefined
  }
}

async function recall(
  { store, log }: RateBoardOptions,
  { seen }: Memory,
  source: RateSource,
  pair: Pair,
): Promise<void> {
  const last = await tryStore(log, store.recall(source.name, pair))
  if (last) seen.set(keyOf(source.name, pair), last)
}

async function askSource(
  { store, log }: RateBoardOptions,
  memory: Memory,
  source: RateSource,
  pair: Pair,
): Promise<void> {
  try {
    const sighting = await source.ask(pair)
    const before = memory.seen.get(keyOf(source.name, pair))
    memory.seen.set(keyOf(source.name, pair), sighting)
    if (!same(before, sighting)) await tryStore(log, store.remember(sighting))
  } catch (error) {
    memory.failures += 1
    log.warn({ source: source.name, pair, err: error }, 'rate source failed')
  }
}

/** Decides once per poll what is in use, so that the next jump is measured against it. */
async function settle(options: RateBoardOptions, memory: Memory, pair: Pair): Promise<void> {
  const { store, log } = options
  const last = await tryStore(log, store.findAccepted(pair))
  if (last) memory.accepted.set(pair, last)
  const day = await tryStore(log, store.findReleasedDay(pair))
  if (day) memory.released.set(pair, day)
  const verdict = decide(options, memory, pair)
  if ('unavailable' in verdict) {
    memory.failures += 1
    log.error({ pair, reason: verdict.unavailable, alarm: true }, 'no rate to quote')
    return
  }
  const { reference, warnings } = verdict
  if (warnings.length > 0) log.warn({ pair, warnings }, 'rate used with doubt')
  if (same(memory.accepted.get(pair), reference)) return
  memory.accepted.set(pair, reference)
  await tryStore(log, store.accept(reference))
}

/** The operator's rate is of a new moment each time; only its value counts. */
const same = (before: Sighting | undefined, now: Sighting): boolean =>
  before?.source === now.source &&
  before.localE8PerUsd === now.localE8PerUsd &&
  (now.source === operatorSource || before.asOfMs === now.asOfMs)

function figureOf(verdict: RateVerdict, nowMs: number) {
  if ('unavailable' in verdict) return verdict
  const { minorPerUsd, reference, spreadBps, deviationBps, warnings } = verdict
  return {
    rate: minorPerUsd.toString(),
    source: reference.source,
    asOf: new Date(reference.asOfMs).toISOString(),
    ageMs: nowMs - reference.asOfMs,
    spreadBps: Number(spreadBps),
    deviationBps: deviationBps === null ? null : Number(deviationBps),
    warnings,
  }
}
