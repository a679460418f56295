import type { Ask } from '#shared/bus/ask'
import type { Copies } from '#shared/bus/copies'
import type { Published } from '#shared/bus/publish'
import type { Clock } from '#shared/clock'
import type { Database } from '#shared/db/open'
import type { Log } from '#shared/log'
import type { Config } from './config'
import type { Gathered } from './health/gather'
import type { Readiness } from './health/probes'
import type { ServiceStats } from './health/stats'
import type { IdentityProvider } from './identity/provider'
import type { Users } from './users/user.store'

/** What every part of the gateway works with; `main.ts` makes the one that runs. */
export type Context = {
  readonly config: Config
  readonly clock: Clock
  readonly log: Log
  readonly ask: Ask
  /** Publishes to JetStream and awaits its confirmation; throws when that does not come. */
  readonly publish: (message: {
    subject: string
    id: string
    payload: unknown
    requestId?: string | null
  }) => Promise<Published>
  /** The copies of the gateway, among which budgets are divided. */
  readonly copies: Pick<Copies, 'count'>
  readonly database: Database
  /** Tells the outbox that there is something to send. */
  readonly poke: () => void
  readonly users: Users
  /** The identity provider that the configuration names. */
  readonly provider: IdentityProvider
  readonly verification: {
    /** Does the newest verdict say that this person is verified? */
    readonly isVerified: (wallet: `0x${string}`) => Promise<boolean>
    /** Notes that the person is about to have a link: the provider is asked about them from now. */
    readonly noteLink: (wallet: `0x${string}`) => Promise<void>
  }
  /** Aborted once this process was told to stop: it still serves, and says that it is not ready. */
  readonly leaving: AbortSignal
  readonly health: {
    readonly readiness: Readiness
    /** What each copy of a service says of itself, for the console. */
    readonly gatherStats: () => Promise<readonly ServiceStats[]>
    /** The gateway's own figures: `$SRV.STATS` carries none of them. */
    readonly figures: () => Promise<Record<string, unknown>>
    /** What all other processes measure; throws when nobody can be asked. */
    readonly gatherMetrics: () => Promise<Gathered[]>
    /** What this process measures, in Prometheus' text format. */
    readonly ownMetrics: () => Promise<string>
  }
}
