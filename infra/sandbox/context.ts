import type { Book } from './book'
import type { Config } from './config'
import type { Faults } from './faults'
import type { Random } from './random'
import type { Webhook } from './records'
import type { Timers } from './timers'

/** Webhook before faults are applied. */
export type Draft = Pick<Webhook, 'source' | 'account' | 'event' | 'body'>

export type Webhooks = {
  send(draft: Draft): void
  /** Sends a stored webhook again, without faults. Returns undefined if it is unknown. */
  resend(id: string): Promise<Webhook | undefined>
  resume(): void
  close(): void
}

export type Context = {
  readonly config: Config
  /** Public URL without a trailing slash. */
  readonly publicUrl: string
  readonly book: Book
  readonly chance: Random
  readonly timers: Timers
  readonly webhooks: Webhooks
  faults: Faults
}

/** Returns the provider's clock, in Unix ms. */
export const nowMs = ({ faults }: Pick<Context, 'faults'>): number => Date.now() + faults.api.clockAheadMs

/** Plans `run` for `whenMs` by the provider's clock, in Unix ms. */
export const planAt = ({ timers, faults }: Context, whenMs: number, run: () => void): void =>
  timers.at(whenMs - faults.api.clockAheadMs, run)

export const nowText = (context: Pick<Context, 'faults'>): string => new Date(nowMs(context)).toISOString()
