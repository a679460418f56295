import { sql } from 'drizzle-orm'
import { type Handler, handler } from '#platform/bus/serve'
import type { Worth, WorthOf } from '#shared/messages/operator-commands'
import { CashoutCancel, CashoutGiveUp, CashoutHold } from '#shared/messages/payouts'
import { nothing } from '#shared/operators/may-perform'
import { ok } from '#shared/refusals'
import { unpaidStates } from '../cashout'
import { findCashout, lockCashout, recordCashout } from '../cashout.store'
import type { Context } from '../context'
import { decisive, mayBePaid } from '../decide'
import { factsOf, findPayouts, receiveEvidence } from '../incoming/receive'
import { startReturn } from '../onchain/advance'
import { giveUpPayout } from '../paying/give-up'
import type { Evidence } from '../provider'
import { findRefusal } from './refusal.store'

type Outcome = { done: string } | { refused: string }

type HoldRequest = { payoutId: string; to: 'held' | 'released'; revision: number; by: string; reason: string }

/** Holds or releases a cash-out for an operator. A retry changes nothing. */
async function holdCashout(context: Context, { payoutId, to, revision, by, reason }: HoldRequest): Promise<Outcome> {
  const outcome = await context.database.transaction(async (tx): Promise<Outcome> => {
    const cashout = await lockCashout(tx, payoutId)
    if (!cashout) return { refused: `there is no cash-out ${payoutId}` }
    const { state, heldByOperator, holdRevision, accountMark } = cashout
    // A request to release that saw the newest hold found none; otherwise it is a retry.
    if (to === 'released' && !heldByOperator && holdRevision === revision)
      return { done: `${payoutId} is not held, and is ${state}` }
    if (heldByOperator === (to === 'held')) return { done: `${payoutId} is ${to}` }
    if (!unpaidStates.has(state))
      return { refused: `${payoutId} is ${state}: only a cash-out before its payout can be ${to}` }
    if (holdRevision !== revision) return { refused: `the hold of ${payoutId} has changed: look again` }
    const refusal = to === 'released' ? await findRefusal(tx, accountMark === null ? [] : [accountMark]) : undefined
    // guard: a cash-out to a refused bank account is not released
    if (refusal?.since)
      return {
        refused: `the bank account of ${payoutId} is refused: accounts allow ${refusal.account}, or cashouts cancel`,
      }
    recordCashout(tx, payoutId, {
      heldByOperator: to === 'held',
      holdRevision: revision + 1,
      ...(state === 'taken' && { nextCheckAt: sql`now()` }),
    })
    context.log.info({ payoutId, to, by, reason }, 'cash-out held or released by operator')
    return {
      done: to === 'held' ? `${payoutId} is held: it is not paid until it is released` : `${payoutId} is released`,
    }
  })
  return outcome
}

/**
 * Cancels a taken cash-out for an operator, unless the provider has a payout of it: a row may come from a backup, and its
 * payout may have been made since. Throws if the provider cannot be read. A retry changes nothing.
 */
async function cancelCashout(
  context: Context,
  { payoutId, by, reason }: Pick<HoldRequest, 'payoutId' | 'by' | 'reason'>,
): Promise<Outcome> {
  const seen = await context.database.read((db) => findCashout(db, payoutId))
  const found: Evidence[] = []
  // guard: a cash-out is cancelled only after its payout was looked for
  if (seen?.state === 'taken') found.push(...decisive(await findPayouts(context, seen)))
  const outcome = await context.database.transaction(async (tx): Promise<Outcome> => {
    for (const evidence of found) await receiveEvidence(tx, context, evidence)
    const cashout = await lockCashout(tx, payoutId)
    if (!cashout) return { refused: `there is no cash-out ${payoutId}` }
    const { state } = cashout
    if ((state === 'returning' || state === 'returned') && cashout.reason === 'cancelled')
      return { done: `the AUSD of ${payoutId} is ${state}` }
    if (state === 'opening' || state === 'taking')
      return { refused: `the AUSD of ${payoutId} is not taken yet: hold it, and cancel it once it is taken` }
    // guard: a cash-out is cancelled only before its payout is ordered
    if (state !== 'taken')
      return { refused: `${payoutId} is ${state}: its payout was ordered, or there is nothing to return` }
    if (seen?.state !== 'taken') return { refused: `${payoutId} has just changed: look again` }
    // guard: a cash-out whose payout may have reached the bank is not cancelled
    if (mayBePaid(factsOf(context, cashout)))
      return { refused: `the provider has a payout of ${payoutId}: release it, and it is followed` }
    startReturn(tx, context, cashout, { reason: 'cancelled', failureCode: null })
    context.log.info({ payoutId, by, reason }, 'cash-out cancelled by operator')
    return { done: `the AUSD of ${payoutId} is being returned` }
  })
  context.poke()
  return outcome
}

/** Counts the AUSD of a cash-out. Undefined if there is none. */
async function worthOf({ database }: Context, payoutId: string): Promise<Worth | undefined> {
  const cashout = await database.read((db) => findCashout(db, payoutId))
  return cashout && { micro: cashout.ausdMicro, to: cashout.wallet, seen: '' }
}

/** Counts a cash-out that an operator lets be paid after all; keeping it from being paid gives nothing. */
const worthOfHold =
  (context: Context): WorthOf<typeof CashoutHold> =>
  async ({ payoutId, to }) =>
    to === 'held' ? nothing : worthOf(context, payoutId)

/** Counts a payout that is given up: if the provider made it after all, the AUSD was given for nothing. */
const worthOfGivingUp =
  (context: Context): WorthOf<typeof CashoutGiveUp> =>
  ({ payoutId }) =>
    worthOf(context, payoutId)

export const answerOperatorCommands = (context: Context): Handler[] => [
  handler(CashoutHold, async (asked) => ok(await holdCashout(context, asked)), worthOfHold(context)),
  handler(CashoutCancel, async (asked) => ok(await cancelCashout(context, asked))),
  handler(CashoutGiveUp, async (asked) => ok(await giveUpPayout(context, asked)), worthOfGivingUp(context)),
]
