import { readConfig } from '#platform/config'
import { fields, guardsFrom } from '../../../services/pricing/config'
import { sourcesFrom } from '../../../services/pricing/rate-sources/sources'
import type { Suite } from '../step'
import { rateSteps } from './rate-steps'
import type { RateWorld } from './rate-world'

const sourceNames = ['frankfurter', 'bnm', 'open-er-api', 'indodax'] as const
type Environment = Readonly<Record<string, string | undefined>>
/** Settings that a suite does not use. */
const unused = {
  NATS_URL: 'nats://localhost',
  NATS_PASSWORD: 'unused',
  DEPLOYMENT: 'local',
  DATABASE_URL: 'postgres://localhost/unused',
  QUOTE_SECRETS: 'no quote is issued by these suites',
}

/** Returns the sources in the order of `names`. */
function benchesOf(names: readonly string[], env: Environment) {
  const config = readConfig('pricing', fields, {
    ...env,
    ...unused,
    RATE_SOURCES: sourceNames.join(','),
  })
  const guards = guardsFrom(config)
  return sourcesFrom(config, Date.now)
    .filter(({ name }) => names.includes(name))
    .map((source) => ({ source, guards }))
}

export function localRateSuites({ url, turn }: RateWorld): Suite[] {
  const env = { FRANKFURTER_URL: url, BNM_URL: url, OPEN_ER_API_URL: url, INDODAX_URL: url, RATE_DEADLINE_MS: '1000' }
  return benchesOf(sourceNames, env).map((bench) => ({
    name: `rates: ${bench.source.name}`,
    steps: rateSteps({ ...bench, turn }),
  }))
}

/** Returns suites of the real sources named in `RATE_SOURCES`, which need no key. */
export function publicRateSuites(named: readonly string[], env: Environment): Suite[] {
  return sourceNames.map((name): Suite => {
    if (!named.includes(name))
      return { name: `rates: ${name}`, steps: [], skipped: `RATE_SOURCES does not name ${name}` }
    const [bench] = benchesOf([name], env)
    return { name: `rates: ${name}`, steps: rateSteps({ ...bench!, turn: undefined }) }
  })
}
