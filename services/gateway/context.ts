import type { Ask } from '#platform/bus/ask'
import type { Copies } from '#platform/bus/instances'
import type { Published } from '#platform/bus/publish'
import type { Clock } from '#platform/clock'
import type { Database } from '#platform/db/open'
import type { PersonReader } from '#platform/db/person'
import type { Log } from '#platform/log'
import type { Config } from './config'
import type { Gathered } from './health/gather'
import type { Readiness } from './health/probes'
import type { IdentityProvider } from './identity/provider'
import type { Users } from './users/user.store'

/** Shared dependencies of the gateway, created in `main.ts`. */
export type Context = {
  readonly config: Config
  readonly clock: Clock
  readonly log: Log
  readonly ask: Ask
  /** Publishes to JetStream and waits for the confirmation; throws without one. */
  readonly publish: (message: {
    subject: string
    id: string
    payload: unknown
    requestId?: string | null
  }) => Promise<Published>
  /** Number of gateway instances, which share budgets. */
  readonly copies: Pick<Copies, 'count'>
  readonly database: Database
  /** Wakes the outbox relay. */
  readonly poke: () => void
  readonly users: Users
  /** Reads the rows about a wallet in the gateway's own tables. */
  readonly ownPerson: PersonReader
  /** The configured identity provider. */
  readonly provider: IdentityProvider
  readonly verification: {
    /** Returns whether the newest verdict is an approval, and the links given today (UTC). */
    readonly standing: (
      wallet: `0x${string}`,
    ) => Promise<{ readonly isVerified: boolean; readonly linksToday: number }>
    /** Records that the user gets a link, with the provider's id of its inquiry; starts the rechecks. */
    readonly noteLink: (wallet: `0x${string}`, providerRef: string | null) => Promise<void>
  }
  /** Aborted when shutdown begins: the process still serves, but reports that it is not ready. */
  readonly leaving: AbortSignal
  readonly health: {
    readonly readiness: Readiness
    /** Reads the metrics of all other processes; throws if the bus is down. */
    readonly gatherMetrics: () => Promise<Gathered[]>
    /** Returns the metrics of this process in Prometheus text format. */
    readonly ownMetrics: () => Promise<string>
  }
}
