import type { Clock } from '#shared/clock'
import type { ConfigOf } from '#shared/config'
import type { fields, SourceName } from './config.ts'
import type { Guards } from './rate-guard.ts'
import type { RateSource } from './rate-source.ts'
import { bnmSource } from './rate-sources/bnm.ts'
import { fixedSource } from './rate-sources/fixed.ts'
import { frankfurterSource } from './rate-sources/frankfurter.ts'
import { openErApiSource } from './rate-sources/open-er-api.ts'

export type Config = ConfigOf<typeof fields>

/** The sources the configuration names, in its order. */
export function sourcesFrom(config: Config, clock: Clock): RateSource[] {
  const deadlineMs = config.rateDeadlineMs
  const all: Record<SourceName, () => RateSource> = {
    fixed: () => fixedSource(config.fixedRates, clock),
    frankfurter: () =>
      frankfurterSource({
        url: config.frankfurterUrl,
        providers: config.frankfurterProviders,
        deadlineMs,
      }),
    bnm: () => bnmSource({ url: config.bnmUrl, session: config.bnmSession, deadlineMs }),
    'open-er-api': () => openErApiSource({ url: config.openErApiUrl, deadlineMs }),
  }
  return config.rateSources.map((name) => all[name]())
}

/** The limits the configuration sets. */
export const guardsFrom = (config: Config): Guards => ({
  ageWeekdayMaxMs: config.rateAgeWeekdayMaxMs,
  ageWeekendMaxMs: config.rateAgeWeekendMaxMs,
  deviationUseMaxBps: config.rateDeviationUseMaxBps,
  deviationWidenMaxBps: config.rateDeviationWidenMaxBps,
  deviationSpreadFactor: config.rateDeviationSpreadFactor,
  jumpMaxBps: config.rateJumpMaxBps,
  weekendExtraBps: config.weekendExtraBps,
  bands: config.rateBands,
  spreadsBps: config.spreadsBps,
  holidays: new Set(config.rateHolidays),
})
