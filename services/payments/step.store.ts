import type { Clock } from '#shared/clock'
import type { Tx } from '#shared/db/open'
import type { Log } from '#shared/log'
import { nextLook } from './look'
import { announceFact, orderEffect } from './order.store'
import { mayBecome, type PaymentState } from './payment'
import { movePayment, type NewPayment, type PaymentRow } from './payment.store'
import type { Step } from './receipt'

/** What every change of a payment needs besides the transaction. */
export type Desk = { readonly log: Log; readonly clock: Clock; readonly sweepAfterMs: number }

type Set = Partial<Omit<NewPayment, 'id' | 'state'>>

/**
 * Takes a decided step: the row and everything announced about it, in the caller's transaction.
 * Undefined when somebody else was first. Throws on a step the lifecycle does not have.
 */
export async function takeStep(
  tx: Tx,
  desk: Desk,
  payment: PaymentRow,
  step: { next: PaymentState; reason?: PaymentRow['reason'] },
  set: Set = {},
): Promise<PaymentRow | undefined> {
  const to = step.next
  if (!mayBecome(payment, to)) throw new Error(`a ${payment.kind} in ${payment.state} became ${to}`)
  const after = { ...payment, ...set, state: to, looks: 0 }
  const lookAt = nextLook(after, desk.clock(), desk.sweepAfterMs)
  const moved = await movePayment(tx, payment.id, {
    from: [payment.state],
    to,
    lookAt,
    set: { ...set, ...(step.reason ? { reason: step.reason } : {}) },
  })
  if (moved) await tell(tx, desk, moved)
  return moved
}

/** A decision that may be to stay. */
export const takeDecided = async (
  tx: Tx,
  desk: Desk,
  payment: PaymentRow,
  step: Step,
  set: Set = {},
) => ('stay' in step ? undefined : takeStep(tx, desk, payment, step, set))

async function tell(tx: Tx, { log }: Desk, payment: PaymentRow): Promise<void> {
  const { id: paymentId, kind, state, reason } = payment
  if (state === 'paid') await announceFact(tx, payment, 'paid')
  if (state === 'paid' || state === 'revoking') await orderEffect(tx, payment)
  if (state === 'credited' || state === 'repaid') await announceFact(tx, payment, 'settled')
  if (state === 'review') {
    await announceFact(tx, payment, 'review')
    log.error({ paymentId, kind, reason, alarm: true }, 'payment needs a person')
    return
  }
  log.info({ paymentId, kind, state }, 'payment moved')
}
