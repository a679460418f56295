import type { Clock } from '#shared/clock'
import type { Pair } from '#shared/money/pair'
import { operatorSource } from '../decide'
import { localE8FromMinor, type RateSource } from '../rate'

/**
 * Rates that an operator configured, in smallest units per US dollar: as of now, whenever asked.
 */
export const fixedSource = (minorPerUsd: ReadonlyMap<Pair, bigint>, clock: Clock): RateSource => ({
  name: operatorSource,
  pairs: [...minorPerUsd.keys()],
  checkOnly: false,
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
