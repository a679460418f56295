import type { Book } from './book.ts'
import type { Chance } from './chance.ts'
import type { Config } from './config.ts'
import type { Faults } from './faults.ts'
import type { Timers } from './timers.ts'
import type { Webhooks } from './webhooks/sender.ts'

/** What everything in the sandbox shares. */
export type World = {
  readonly config: Config
  /** Without a trailing slash; hosted pages live under it. */
  readonly publicUrl: string
  readonly book: Book
  readonly chance: Chance
  readonly timers: Timers
  readonly webhooks: Webhooks
  /** The faults in force; controls replace them. */
  faults: Faults
}

/** The moment as the provider writes it: ISO 8601 UTC with milliseconds. */
export const nowText = (): string => new Date().toISOString()
