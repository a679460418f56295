import { toUnixSeconds } from '#platform/clock'
import { fromNow } from '#platform/db/columns'
import type { Tx } from '#platform/db/open'
import { type Announcement, announce, announcement, announceWith } from '#platform/db/outbox.store'
import { messageIdFor } from '#shared/ids'
import type { PayoutPaid, PayoutReturned, PayoutTaken } from '#shared/messages/payouts'
import { ReturnOrdered, TakeOrdered } from '#shared/messages/relay'
import type { Topic } from '#shared/messages/topic'
import type { CashoutState, Reason } from '../cashout'
import { moveAhead, moveCashout, moveLocked } from '../cashout.store'
import type { Cashout } from '../cashout.table'
import type { Context } from '../context'
import { bookStep } from '../ledger/book'
import { outbox } from '../schema.store'

// Every function here works in the caller's transaction, so that row, event and order are committed in one step.

/** Returns a new message id for a resent order; the relayer acts once per payout. */
const repeatIdOf = (topic: Topic, { id, state, checks }: Cashout) => messageIdFor(topic, id, `${state}:${checks}`)

export function factOf(
  topic: typeof PayoutTaken | typeof PayoutPaid | typeof PayoutReturned,
  { id, wallet, fiatMinor, ausdMicro }: Cashout,
): Announcement {
  const amounts = { fiat: fiatMinor.toString(), ausd: ausdMicro.toString() }
  return announcement(topic, messageIdFor(topic, id), { payoutId: id, wallet, ...amounts })
}

type Taking = Pick<Cashout, 'id' | 'authorization' | 'createdAt'>
const takeOf = ({ id, authorization, createdAt }: Taking) => ({
  payoutId: id,
  authorization,
  receivedAt: String(toUnixSeconds(createdAt.getTime())),
})

/** Accepts a cash-out and orders its AUSD. Returns what `moveAhead` returns. */
export function startTaking(tx: Tx, { recheckAfterMs }: Context, cashout: Cashout): () => Cashout | undefined {
  const order = announceWith(tx, outbox, [
    announcement(TakeOrdered, messageIdFor(TakeOrdered, cashout.id), takeOf(cashout)),
  ])
  return moveAhead(tx, cashout.id, 'taking', { nextCheckAt: fromNow(recheckAfterMs) }, order)
}

export const repeatTake = (tx: Tx, cashout: Cashout) =>
  announce(tx, outbox, TakeOrdered, repeatIdOf(TakeOrdered, cashout), takeOf(cashout))

const returnOf = ({ id, wallet, ausdMicro }: Cashout) => ({
  payoutId: id,
  wallet,
  ausd: ausdMicro.toString(),
})

/**
 * Moves a cash-out, books the step, and stores its messages. The caller has locked the row in a state that allows the step,
 * and passes it as `before`.
 */
export function takeStep(
  tx: Tx,
  before: Cashout,
  next: CashoutState,
  changes: Parameters<typeof moveLocked>[3],
  messages: readonly Announcement[],
): void {
  const announced = announceWith(tx, outbox, messages)
  moveLocked(tx, before.id, next, changes, [bookStep(before, next), announced?.statement])
  announced?.notify()
}

export async function expire({ database, log }: Context, id: string): Promise<void> {
  const ended = await database.run((db) => moveCashout(db, id, 'expired', { nextCheckAt: null }))
  if (ended) log.info({ payoutId: id }, 'cash-out expired before it was accepted')
}

/** Orders the return. The caller has locked the row in a state that allows the step, and passes it as `before`. */
export function startReturn(
  tx: Tx,
  { recheckAfterMs, log }: Context,
  before: Cashout,
  because: { reason: Reason; failureCode: string | null },
  also: { changes?: Partial<Cashout>; messages?: readonly Announcement[] } = {},
): void {
  const { id } = before
  const { changes = {}, messages = [] } = also
  const nextCheckAt = fromNow(recheckAfterMs)
  const order = announcement(ReturnOrdered, messageIdFor(ReturnOrdered, id), returnOf(before))
  takeStep(tx, before, 'returning', { ...changes, ...because, nextCheckAt }, [...messages, order])
  log.info({ payoutId: id, ...because }, 'return ordered')
}

export const repeatReturn = (tx: Tx, cashout: Cashout) =>
  announce(tx, outbox, ReturnOrdered, repeatIdOf(ReturnOrdered, cashout), returnOf(cashout))
