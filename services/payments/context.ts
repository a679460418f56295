import { type Ask, askOr as askInTime } from '#shared/bus/ask'
import type { Clock } from '#shared/clock'
import type { Database } from '#shared/db/open'
import type { Log } from '#shared/log'
import type { Question, ReadAnswerOf, RequestOf } from '#shared/messages/topic'
import type { RefusalCode } from '#shared/refusals'
import type { TreasuryReading } from './cover/treasury'
import type { TopupLimits } from './price'
import type { PaymentProvider } from './provider'

/** What every part of this service works with; made in `main.ts`. Durations in ms. */
export type Context = {
  readonly database: Database
  readonly provider: PaymentProvider
  readonly ask: Ask
  /** What there is to promise out of. */
  readonly treasury: TreasuryReading
  readonly log: Log
  /** Tells the time of the database, which the times of rows are from. */
  readonly clock: Clock
  /** Called after a commit, for the outbox. */
  readonly poke: () => void
  readonly checkoutTtlMs: number
  readonly topupLimits: TopupLimits
  /** What is quiet for so long is asked for. */
  readonly sweepAfterMs: number
  /** The list of transactions is read, if its latest whole reading began within so long. */
  readonly listedWithinMs: number
  /** How long before a hold ends its refunds are asked for once more, or the hold is extended. */
  readonly holdMarginMs: number
}

/** Three questions and the provider must fit into the time the gateway waits. */
export const askDeadlineMs = 1_500

/** Asks another service within that time. If it does not answer, the answer is `otherwise`. */
export const askOr = <Q extends Question>(
  { ask }: Context,
  question: Q,
  request: RequestOf<Q>,
  otherwise: RefusalCode,
): Promise<ReadAnswerOf<Q>> => askInTime(ask, question, request, otherwise, askDeadlineMs)
