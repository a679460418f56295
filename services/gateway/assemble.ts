import { openPersonReader } from '#platform/db/person'
import type { Config } from './config'
import type { Context } from './context'
import { openRefills } from './identity/refill'
import { openVerification } from './identity/run'
import { openAutoRepayActivity } from './reminders/activity'
import { openTerms } from './terms/terms'
import { openUsers } from './users/user.store'

/** The parts of the context that reach outside of the process, its end, and the clock. */
export type Means = Pick<
  Context,
  'database' | 'ask' | 'publish' | 'news' | 'provider' | 'copies' | 'health' | 'leaving' | 'log' | 'clock' | 'poke'
>

export function assemble(config: Config, means: Means): Context {
  const { database } = means
  return {
    config,
    ...means,
    users: openUsers(database),
    terms: openTerms(database, config),
    autoRepayments: openAutoRepayActivity(database),
    ownPerson: openPersonReader(database, 'gateway'),
    verification: openVerification({ config, ...means }),
    orderRefill: openRefills(means),
  }
}
