import type { Ask } from '#platform/bus/ask'
import type { Clock } from '#platform/clock'
import type { Database } from '#platform/db/open'
import type { Log } from '#platform/log'
import type { AccountLengths } from './decide'
import type { PayoutProvider } from './provider'
import type { Channels, DetailsSafe } from './request/bank'
import type { BalanceReading } from './treasury/balance'

/** Durations in ms. */
export type Context = {
  readonly database: Database
  readonly ask: Ask
  readonly provider: PayoutProvider
  readonly channels: Channels
  readonly balance: BalanceReading
  readonly safe: DetailsSafe
  readonly treasury: string
  readonly accountLengths: AccountLengths
  /** Per wallet and UTC day (10⁻⁶ AUSD). */
  readonly dayMicroMax: bigint
  /** Cash-outs given back per UTC day after which no more are accepted. */
  readonly givenBackMax: { readonly ofWallet: number; readonly toAccount: number }
  /** Limit of all wallets together per UTC day. */
  readonly accountChecksDayMax: number
  readonly recheckAfterMs: number
  readonly reversalWatchMs: number
  readonly clock: Clock
  readonly log: Log
  readonly poke: () => void
}
