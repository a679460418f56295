import type { Static } from 'typebox'
import type { Ask } from '#platform/bus/ask'
import type { InstanceCount } from '#platform/bus/instances'
import type { Published } from '#platform/bus/publish'
import type { Clock } from '#platform/clock'
import type { Database } from '#platform/db/open'
import type { PersonReader } from '#platform/db/person'
import type { Log } from '#platform/log'
import type { ChainAccount } from '#shared/messages/chain'
import type { Config } from './config'
import type { News } from './events/news'
import type { CollectedMetrics } from './health/collect'
import type { Readiness } from './health/probes'
import type { IdentityProvider } from './identity/provider'
import type { AutoRepayActivity } from './reminders/activity'
import type { Terms } from './terms/terms'
import type { Users } from './users/user.store'

export type Context = {
  readonly config: Config
  readonly clock: Clock
  readonly log: Log
  readonly ask: Ask
  /** Publishes a message and waits for the confirmation by JetStream. Throws without one. */
  readonly publish: (message: {
    subject: string
    id: string
    payload: unknown
    requestId?: string | null
  }) => Promise<Published>
  /** Count of gateway instances, which share budgets. */
  readonly copies: Pick<InstanceCount, 'count'>
  readonly database: Database
  readonly poke: () => void
  readonly news: News
  readonly users: Users
  readonly terms: Terms
  readonly autoRepayments: AutoRepayActivity
  /** Reader of the personal data in the gateway's own tables. */
  readonly ownPerson: PersonReader
  readonly provider: IdentityProvider
  readonly verification: {
    /** Returns the state by the newest verdict; days are those in Jakarta. */
    readonly standing: (wallet: `0x${string}`) => Promise<{ readonly isVerified: boolean; readonly linksToday: number }>
    /** Records a verification link, which starts the rechecks. */
    readonly recordLink: (wallet: `0x${string}`, providerRef: string | null) => Promise<void>
  }
  /** Orders native coin for an account that is due a refill. Never throws. */
  readonly orderRefill: (account: Static<typeof ChainAccount.answer>) => Promise<void>
  /** Signal that is aborted when shutdown begins: the process still serves requests, but is not ready. */
  readonly leaving: AbortSignal
  readonly health: {
    readonly readiness: Readiness
    /** Collects the metrics of all other processes. Throws if the bus is down. */
    readonly collectMetrics: () => Promise<CollectedMetrics[]>
    readonly ownMetrics: () => Promise<string>
  }
}
