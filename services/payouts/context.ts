import type { Ask } from '#platform/bus/ask'
import type { Clock } from '#platform/clock'
import type { Database } from '#platform/db/open'
import type { Log } from '#platform/log'
import type { AccountLengths } from './decide'
import type { PayoutProvider } from './provider'
import type { Channels, DetailsSafe } from './request/bank'
import type { BalanceReading } from './treasury/balance'

/**
 * Dependencies and settings shared by all parts of this service; built in `main.ts`. Durations in
 * ms.
 */
export type Context = {
  readonly database: Database
  readonly ask: Ask
  readonly provider: PayoutProvider
  readonly channels: Channels
  /** Last reading of the provider's balance, from which promises are made. */
  readonly balance: BalanceReading
  readonly safe: DetailsSafe
  readonly treasury: string
  readonly accountLengths: AccountLengths
  /** Limit on a wallet's cash-outs per UTC day (10⁻⁶ AUSD). */
  readonly dayMicroMax: bigint
  /** Numbers of cash-outs given back in a UTC day after which no more are accepted. */
  readonly givenBackMax: { readonly ofWallet: number; readonly toAccount: number }
  /** Limit on the account checks of all wallets per UTC day. */
  readonly accountChecksDayMax: number
  /** Time without an update before a recheck, and how long paid cash-outs are rechecked. */
  readonly recheckAfterMs: number
  readonly reversalWatchMs: number
  /** The database's clock, which also stamps the rows. */
  readonly clock: Clock
  readonly log: Log
  /** Wakes the outbox relay after a commit. */
  readonly poke: () => void
}
