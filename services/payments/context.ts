import { type Ask, askOr as askInTime } from '#platform/bus/ask'
import type { Clock } from '#platform/clock'
import type { Database } from '#platform/db/open'
import type { Log } from '#platform/log'
import type { Question, ReadAnswerOf, RequestOf } from '#shared/messages/topic'
import type { Pilot } from '#shared/money/pilot'
import type { RefusalCode } from '#shared/refusals'
import type { TopupLimits } from './price'
import type { PaymentProvider } from './provider'
import type { TreasuryReading } from './treasury/treasury'

export type Context = {
  readonly database: Database
  readonly provider: PaymentProvider
  readonly ask: Ask
  readonly treasury: TreasuryReading
  readonly log: Log
  /** The database's clock, which also sets the timestamps of the rows. */
  readonly clock: Clock
  /** Wakes the outbox relay after a commit. */
  readonly poke: () => void
  readonly checkoutTtlMs: number
  readonly topupLimits: TopupLimits
  /** Limit on the top-ups of all wallets together per day in Jakarta (10⁻⁶ AUSD), or null without one. */
  readonly allDayMicroMax: bigint | null
  readonly pilot: Pilot
  /** Whether checkouts by bank transfer in Indonesia carry the payer's verified name. */
  readonly sendsPayerName: boolean
  readonly recheckAfterMs: number
  /** Maximum age, in ms, at which a complete reading of the transaction list counts as current. */
  readonly listedWithinMs: number
  /** Time before the end of a hold, in ms, at which the hold is checked for refunds, or extended. */
  readonly holdMarginMs: number
  /** Longest wait, in ms, before the end of a hold is read from the chain again. */
  readonly holdRecheckMs: number
}

/**
 * Deadline of a request to another service, in ms: three requests and a provider call must fit into the
 * gateway's timeout.
 */
export const askDeadlineMs = 1_500

/** Asks another service, and refuses with `otherwise` if it does not answer in time. */
export const askOr = <Q extends Question>(
  { ask }: Context,
  question: Q,
  request: RequestOf<Q>,
  otherwise: RefusalCode,
): Promise<ReadAnswerOf<Q>> => askInTime(ask, question, request, otherwise, askDeadlineMs)
