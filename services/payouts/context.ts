import type { Ask } from '#shared/bus/ask'
import type { Clock } from '#shared/clock'
import type { Database } from '#shared/db/open'
import type { Log } from '#shared/log'
import type { Channels, DetailsSafe } from './bank'
import type { BalanceReading } from './cover/balance'
import type { AccountLengths } from './decide'
import type { PayoutProvider } from './provider'

/** What this service works with; made in main.ts. Durations in ms. */
export type Context = {
  readonly database: Database
  readonly ask: Ask
  readonly provider: PayoutProvider
  readonly channels: Channels
  /** What there is to promise out of. */
  readonly balance: BalanceReading
  readonly safe: DetailsSafe
  readonly treasury: string
  readonly accountLengths: AccountLengths
  /** What the cash-outs of a wallet may come to in a day (UTC): 10⁻⁶ AUSD. */
  readonly dayMicroMax: bigint
  /** How long a cash-out may stay quiet before it is checked; how long a paid one is checked. */
  readonly sweepAfterMs: number
  readonly reversalWatchMs: number
  /** Tells the time of the database, which the times of rows are from. */
  readonly clock: Clock
  readonly log: Log
  /** Called after a commit, for the outbox. */
  readonly poke: () => void
}
