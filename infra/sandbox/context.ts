import type { Book } from './book'
import type { Chance } from './chance'
import type { Config } from './config'
import type { Faults } from './faults'
import type { Tariff } from './fee'
import type { Webhook } from './records'
import type { Timers } from './timers'

/** An event to be told, before faults decide what becomes of it. */
export type Draft = Pick<Webhook, 'source' | 'account' | 'event' | 'body'>

/** The sender of all webhooks. */
export type Webhooks = {
  /** Plans the delivery and returns at once. */
  send(draft: Draft): void
  /** Hands one over again, now, whatever the faults say; `undefined` when it is unknown. */
  resend(id: string): Promise<Webhook | undefined>
  /** Takes up what a former process left pending. */
  resume(): void
  close(): void
}

/** What everything in the sandbox shares. */
export type Context = {
  readonly config: Config
  /** Without a trailing slash; hosted pages live under it. */
  readonly publicUrl: string
  readonly book: Book
  readonly chance: Chance
  readonly timers: Timers
  readonly webhooks: Webhooks
  /** The faults in force; controls replace them. */
  faults: Faults
  /** What the provider charges from when on, the oldest first; controls add to it. */
  tariffs: readonly Tariff[]
}

/** The moment as the provider writes it: ISO 8601 UTC with milliseconds. */
export const nowText = (): string => new Date().toISOString()
