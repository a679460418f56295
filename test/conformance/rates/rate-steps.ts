import type { Pair } from '#shared/money/pair'
import { bankDay } from '#test/support/bank-day'
import { decideRate, type Guards } from '../../../services/pricing/decide'
import type { RateSource } from '../../../services/pricing/rate'
import { dayOf } from '../../../services/pricing/rate'
import { NotHere, type Step } from '../step'
import type { RateWeather } from './rate-world'

const dayMs = 86_400_000

export type RateBench = {
  readonly source: RateSource
  readonly guards: Guards
  /** Makes the source fail; undefined if impossible. */
  readonly turn: ((weather: RateWeather) => void) | undefined
}

/** Responses in the right form whose rate the guards refuse. Those that a client refuses are in `rate-sources.test.ts`. */
const refused: readonly RateWeather[] = ['inverted', 'rate of 1', 'stale']

export const rateSteps = (bench: RateBench): Step[] =>
  bench.source.pairs.flatMap((pair) => [
    {
      name: `${pair} has a rate that ${bench.source.checkOnly ? 'others can be compared with' : 'could be quoted'}`,
      expected: 'used',
      ...(bench.source.name === 'bnm' && { fact: 'bnm-session' as const }),
      ...(bench.source.name === 'indodax' && { fact: 'indodax-ticker' as const }),
      see: () => outcomeOf(bench, pair),
    },
    ...(bench.source.checkOnly
      ? [
          {
            name: `${pair} is only a cross-check, so it is never quoted itself`,
            expected: 'refused by the guards',
            ...(bench.source.name === 'open-er-api' && { fact: 'open-er-api-terms' as const }),
            see: () => outcomeOf(bench, pair, { alone: true }),
          },
        ]
      : []),
    ...(bench.source.name === 'bnm'
      ? [
          {
            name: `${pair}, no middle: the mean of buying and selling is taken`,
            expected: 'used',
            fact: 'bnm-session' as const,
            see: () => inWeather(bench, 'no middle', () => outcomeOf(bench, pair)),
          },
        ]
      : []),
    ...refused.map((weather) => ({
      name: `${pair}, ${weather}`,
      expected: 'refused by the guards',
      see: () => inWeather(bench, weather, () => outcomeOf(bench, pair)),
    })),
    {
      name: `${pair}, yesterday: the rate keeps its own date`,
      expected: 'of yesterday',
      see: () =>
        inWeather(bench, 'yesterday', async () => {
          const { asOfMs } = await bench.source.ask(pair)
          // A ticker names the moment of its price, and a bank the day.
          const isTicker = bench.source.name === 'indodax'
          const day = isTicker ? dayOf(Date.now() - dayMs) : bankDay(1)
          return dayOf(asOfMs) === day ? 'of yesterday' : `of ${dayOf(asOfMs)}`
        }),
    },
  ])

async function inWeather({ turn }: RateBench, weather: RateWeather, see: () => Promise<string>): Promise<string> {
  if (!turn) throw new NotHere('the real source cannot be made to fail')
  turn(weather)
  try {
    return await see()
  } finally {
    turn('fair')
  }
}

/**
 * Returns pricing's result if this were its only source. A second source with the same rate makes the guards check it,
 * unless `alone`.
 */
async function outcomeOf({ source, guards }: RateBench, pair: Pair, { alone = false } = {}): Promise<string> {
  const sighting = await source.ask(pair).catch(() => undefined)
  if (!sighting) return 'no answer'
  const known = {
    pair,
    sightings: alone ? [] : [sighting],
    sourcesWanted: 1,
    checks: source.checkOnly && !source.neverCloses ? [sighting] : [],
    trades: source.neverCloses ? [sighting] : [],
    accepted: null,
    releasedDay: undefined,
  }
  return 'payIn' in decideRate(known, guards, Date.now()) ? 'used' : 'refused by the guards'
}
