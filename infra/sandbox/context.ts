import type { Book } from './book'
import type { Config } from './config'
import type { Faults } from './faults'
import type { Ids } from './ids'
import type { Random } from './random'
import type { Webhook } from './records'
import type { Timers } from './timers'

/** Webhook before faults are applied. */
export type Draft = Pick<Webhook, 'source' | 'account' | 'event' | 'body'>

/** Settings of the payment provider itself. */
export type ProviderConfig = Pick<Config, 'secretKeys' | 'payoutSettleMs' | 'feeBps' | 'floatIdrMinor'> & {
  /** Least time from the opening of a session to its expiry, in ms. */
  readonly sessionLifeMinMs: number
}

/**
 * Everything that the payment provider reaches outside of itself: time, chance, ids, storage and webhooks. So it also runs
 * without HTTP, in virtual time.
 */
export type Context = {
  readonly config: ProviderConfig
  /** Public URL without a trailing slash. */
  readonly publicUrl: string
  readonly book: Book
  /** Time in Unix ms. The provider's own clock may be ahead of it. */
  readonly clock: () => number
  readonly chance: Random
  readonly ids: Ids
  readonly timers: Timers
  readonly webhooks: { send(draft: Draft): void }
  faults: Faults
}

export type Webhooks = Context['webhooks'] & {
  /** Sends a stored webhook again, without faults. Returns undefined if it is unknown. */
  resend(id: string): Promise<Webhook | undefined>
  resume(): void
  close(): void
}

/** The context of the whole sandbox, with the identity providers, the pages and the senders of webhooks. */
export type SandboxContext = Context & { readonly config: Config & ProviderConfig; readonly webhooks: Webhooks }

type Clocked = Pick<Context, 'clock' | 'faults'>

/** Returns the provider's clock, in Unix ms. */
export const nowMs = ({ clock, faults }: Clocked): number => clock() + faults.api.clockAheadMs

/** Plans `run` for `whenMs` by the provider's clock, in Unix ms. */
export const planAt = ({ timers, faults }: Pick<Context, 'timers' | 'faults'>, whenMs: number, run: () => void): void =>
  timers.at(whenMs - faults.api.clockAheadMs, run)

export const nowText = (context: Clocked): string => new Date(nowMs(context)).toISOString()
