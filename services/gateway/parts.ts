import type { Ask } from '#shared/bus/ask'
import type { Clock } from '#shared/clock'
import type { Log } from '#shared/log'
import type { HttpMetrics } from './health/http-metrics.ts'
import type { Readiness } from './health/readiness.ts'
import type { ServiceStats } from './health/service-stats.ts'
import type { Door } from './http/door.ts'
import type { IdentityProvider } from './identity/identity-provider.ts'
import type { Users } from './users/user.store.ts'
import type { CallbackTokens } from './webhooks/callback-token.ts'
import type { Publish } from './webhooks/delivery.ts'

/** What the gateway is made of at its edges; `main.ts` opens the real ones. */
export type Parts = {
  readonly ask: Ask
  readonly publish: Publish
  readonly users: Users
  readonly identity: {
    readonly provider: IdentityProvider
    /** Does the newest verdict say that this person is verified? */
    readonly isVerified: (wallet: `0x${string}`) => Promise<boolean>
    /** Notes that the person is about to have a link: the provider is asked about them from now. */
    readonly noteLink: (wallet: `0x${string}`) => Promise<void>
  }
  readonly readiness: Readiness
  readonly gatherStats: () => Promise<readonly ServiceStats[]>
  /** The gateway's own figures: it answers no questions, so `$SRV.STATS` carries none of them. */
  readonly figures: () => Promise<Record<string, unknown>>
  readonly clock: Clock
  readonly log: Log
  readonly settings: Settings
}

/** The part of the configuration that the routes know. */
export type Settings = {
  readonly publicUrl: string
  readonly callbackTokens: CallbackTokens
  readonly corsOrigins: readonly string[]
  readonly trustedProxyHops: number
  readonly publicPerMinute: number
  readonly signedPerMinute: number
}

/** What a route file is given. */
export type RouteParts = Parts & { readonly door: Door; readonly metrics: HttpMetrics }
