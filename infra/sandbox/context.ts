import type { Config } from './config'
import type { Faults } from './faults'
import type { Tariff } from './fee'
import type { Chance } from './random'
import type { Webhook } from './records'
import type { Book } from './state'
import type { Timers } from './timers'

/** Event to send, before faults are applied. */
export type Draft = Pick<Webhook, 'source' | 'account' | 'event' | 'body'>

/** Sender of all webhooks. */
export type Webhooks = {
  /** Schedules the delivery and returns at once. */
  send(draft: Draft): void
  /** Sends a webhook again at once, ignoring faults; returns `undefined` if it is unknown. */
  resend(id: string): Promise<Webhook | undefined>
  /** Resumes deliveries that an earlier process left pending. */
  resume(): void
  close(): void
}

/** Shared state of the sandbox. */
export type Context = {
  readonly config: Config
  /** Base URL of hosted pages, without a trailing slash. */
  readonly publicUrl: string
  readonly book: Book
  readonly chance: Chance
  readonly timers: Timers
  readonly webhooks: Webhooks
  /** Active faults; controls replace them. */
  faults: Faults
  /** Fee schedule of the provider, oldest first; controls add to it. */
  tariffs: readonly Tariff[]
}

/** Returns the time by the provider's clock, unix ms. */
export const nowMs = ({ faults }: Pick<Context, 'faults'>): number =>
  Date.now() + faults.api.clockAheadMs

/** Does this at a time of the provider's clock, unix ms. */
export const planAt = ({ timers, faults }: Context, whenMs: number, run: () => void): void =>
  timers.at(whenMs - faults.api.clockAheadMs, run)

/** Returns the time in the provider's format: ISO 8601 UTC with milliseconds. */
export const nowText = (context: Pick<Context, 'faults'>): string =>
  new Date(nowMs(context)).toISOString()
