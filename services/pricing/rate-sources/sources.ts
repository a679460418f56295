import type { Clock } from '#platform/clock'
import type { Pair } from '#shared/money/pair'
import type { Config, SourceName } from '../config'
import type { RateSource } from '../rate'
import { bnmSource } from './bnm'
import { fixedSource } from './fixed'
import { frankfurterSource } from './frankfurter'
import { indodaxSource } from './indodax'
import { openErApiSource } from './open-er-api'

/** Central bank of each pair, by its name at Frankfurter. */
const centralBanks: ReadonlyMap<Pair, string> = new Map([
  ['USD/IDR', 'BI'],
  ['USD/MYR', 'BNM'],
])

export function sourcesFrom(config: Config, clock: Clock): RateSource[] {
  const deadlineMs = config.rateDeadlineMs
  const all: Record<SourceName, () => RateSource> = {
    fixed: () => fixedSource(config.fixedRates, clock),
    frankfurter: () =>
      frankfurterSource({
        url: config.frankfurterUrl,
        providers: centralBanks,
        deadlineMs,
      }),
    bnm: () => bnmSource({ url: config.bnmUrl, session: config.bnmSession, deadlineMs }),
    'open-er-api': () => openErApiSource({ url: config.openErApiUrl, deadlineMs }),
    indodax: () => indodaxSource({ url: config.indodaxUrl, deadlineMs }),
  }
  return config.rateSources.map((name) => all[name]())
}
