import type { Ask } from '#platform/bus/ask'
import type { InstanceCount } from '#platform/bus/instances'
import type { Published } from '#platform/bus/publish'
import type { Clock } from '#platform/clock'
import type { Database } from '#platform/db/open'
import type { PersonReader } from '#platform/db/person'
import type { Log } from '#platform/log'
import type { Config } from './config'
import type { CollectedMetrics } from './health/collect'
import type { Readiness } from './health/probes'
import type { IdentityProvider } from './identity/provider'
import type { Users } from './users/user.store'

export type Context = {
  readonly config: Config
  readonly clock: Clock
  readonly log: Log
  readonly ask: Ask
  /** Waits for the confirmation by JetStream; throws without one. */
  readonly publish: (message: {
    subject: string
    id: string
    payload: unknown
    requestId?: string | null
  }) => Promise<Published>
  /** Gateway instances share budgets. */
  readonly copies: Pick<InstanceCount, 'count'>
  readonly database: Database
  readonly poke: () => void
  readonly users: Users
  /** Of the gateway's own tables. */
  readonly ownPerson: PersonReader
  readonly provider: IdentityProvider
  readonly verification: {
    /** By the newest verdict; days are in UTC. */
    readonly standing: (wallet: `0x${string}`) => Promise<{ readonly isVerified: boolean; readonly linksToday: number }>
    /** Starts the rechecks. */
    readonly recordLink: (wallet: `0x${string}`, providerRef: string | null) => Promise<void>
  }
  /** Aborted when shutdown begins: the process serves, but is not ready. */
  readonly leaving: AbortSignal
  readonly health: {
    readonly readiness: Readiness
    /** Of all other processes; throws if the bus is down. */
    readonly collectMetrics: () => Promise<CollectedMetrics[]>
    readonly ownMetrics: () => Promise<string>
  }
}
