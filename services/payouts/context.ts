import type { Ask } from '#platform/bus/ask'
import type { Clock } from '#platform/clock'
import type { Database } from '#platform/db/open'
import type { Log } from '#platform/log'
import type { Pilot } from '#shared/money/pilot'
import type { AccountLengths } from './decide'
import type { PayoutProvider } from './provider'
import type { Channels, DetailsSafe } from './request/bank'
import type { BalanceReading } from './treasury/balance'

/** Parts and settings of the service; durations are in ms. */
export type Context = {
  readonly database: Database
  readonly ask: Ask
  readonly provider: PayoutProvider
  readonly channels: Channels
  readonly balance: BalanceReading
  readonly safe: DetailsSafe
  readonly treasury: string
  readonly accountLengths: AccountLengths
  /** Limit per wallet and day in Jakarta (10⁻⁶ AUSD). */
  readonly dayMicroMax: bigint
  /** Limit of all wallets together per day in Jakarta (10⁻⁶ AUSD), or null without one. */
  readonly allDayMicroMax: bigint | null
  readonly pilot: Pilot
  /** Limits while the market of the rupiah is closed, per day in Jakarta (10⁻⁶ AUSD); 0 means no cash-outs. */
  readonly closedMicroMax: { readonly ofAll: bigint; readonly ofWallet: bigint }
  /** Number of returned cash-outs per day in Jakarta after which no more are accepted. */
  readonly givenBackMax: { readonly ofWallet: number; readonly toAccount: number }
  /** Limit of account checks by all wallets per day in Jakarta. */
  readonly accountChecksDayMax: number
  readonly recheckAfterMs: number
  readonly reversalWatchMs: number
  readonly clock: Clock
  readonly log: Log
  readonly poke: () => void
}
