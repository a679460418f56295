import type { Clock } from '#platform/clock'
import type { Pair } from '#shared/money/pair'
import { operatorSource } from '../decide'
import { localE8FromMinor, type RateSource } from '../rate'

/** Returns a source of configured rates in minor units per US dollar, which are always dated now. */
export const fixedSource = (minorPerUsd: ReadonlyMap<Pair, bigint>, clock: Clock): RateSource => ({
  name: operatorSource,
  pairs: [...minorPerUsd.keys()],
  checkOnly: false,
  neverCloses: false,
  ask: async (pair) => {
    const rate = minorPerUsd.get(pair)
    if (rate === undefined) throw new Error(`no fixed rate for ${pair}`)
    return {
      source: operatorSource,
      pair,
      localE8PerUsd: localE8FromMinor(rate, pair),
      asOfMs: clock(),
    }
  },
})
