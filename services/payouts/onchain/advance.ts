import { toUnixSeconds } from '#platform/clock'
import { fromNow } from '#platform/db/columns'
import type { Tx } from '#platform/db/open'
import { announce } from '#platform/db/outbox.store'
import { messageIdFor } from '#shared/ids'
import type { PayoutPaid, PayoutReturned, PayoutTaken } from '#shared/messages/payouts'
import { ReturnOrdered, TakeOrdered } from '#shared/messages/relay'
import type { Topic } from '#shared/messages/topic'
import type { CashoutState, Reason } from '../cashout'
import { moveCashout } from '../cashout.store'
import type { Cashout } from '../cashout.table'
import type { Context } from '../context'
import { bookStep } from '../ledger/book'
import { outbox } from '../schema.store'

// Every function here works in the caller's transaction, so that row, event and order are committed in one step.

/** Returns a new message id for a resent order; the relayer acts once per payout. */
const repeatIdOf = (topic: Topic, { id, state, checks }: Cashout) => messageIdFor(topic, id, `${state}:${checks}`)

export function announceFact(
  tx: Tx,
  topic: typeof PayoutTaken | typeof PayoutPaid | typeof PayoutReturned,
  { id, wallet, fiatMinor, ausdMicro }: Cashout,
): void {
  const amounts = { fiat: fiatMinor.toString(), ausd: ausdMicro.toString() }
  announce(tx, outbox, topic, messageIdFor(topic, id), { payoutId: id, wallet, ...amounts })
}

type Taking = Pick<Cashout, 'id' | 'authorization' | 'createdAt'>
const takeOf = ({ id, authorization, createdAt }: Taking) => ({
  payoutId: id,
  authorization,
  receivedAt: String(toUnixSeconds(createdAt.getTime())),
})

export const orderTake = (tx: Tx, cashout: Taking) =>
  announce(tx, outbox, TakeOrdered, messageIdFor(TakeOrdered, cashout.id), takeOf(cashout))

export const repeatTake = (tx: Tx, cashout: Cashout) =>
  announce(tx, outbox, TakeOrdered, repeatIdOf(TakeOrdered, cashout), takeOf(cashout))

const returnOf = ({ id, wallet, ausdMicro }: Cashout) => ({
  payoutId: id,
  wallet,
  ausd: ausdMicro.toString(),
})

/**
 * Moves a cash-out and books the step. Returns undefined if the step was already taken. The caller has locked
 * the row and passes it as `before`.
 */
export async function takeStep(
  tx: Tx,
  before: Cashout,
  next: CashoutState,
  changes: Parameters<typeof moveCashout>[3],
): Promise<Cashout | undefined> {
  const after = await moveCashout(tx, before.id, next, changes)
  if (after) await bookStep(tx, before, after)
  return after
}

export async function expire({ database, log }: Context, id: string): Promise<void> {
  const ended = await database.run((db) => moveCashout(db, id, 'expired', { nextCheckAt: null }))
  if (ended) log.info({ payoutId: id }, 'cash-out expired before it was accepted')
}

/**
 * Orders the return once. Returns false if it was already ordered. The caller has locked the row and passes
 * it as `before`.
 */
export async function startReturn(
  tx: Tx,
  { recheckAfterMs, log }: Context,
  before: Cashout,
  because: { reason: Reason; failureCode: string | null },
): Promise<boolean> {
  const { id } = before
  const nextCheckAt = fromNow(recheckAfterMs)
  const cashout = await takeStep(tx, before, 'returning', { ...because, nextCheckAt })
  if (!cashout) return false
  announce(tx, outbox, ReturnOrdered, messageIdFor(ReturnOrdered, id), returnOf(cashout))
  log.info({ payoutId: id, ...because }, 'return ordered')
  return true
}

export const repeatReturn = (tx: Tx, cashout: Cashout) =>
  announce(tx, outbox, ReturnOrdered, repeatIdOf(ReturnOrdered, cashout), returnOf(cashout))
