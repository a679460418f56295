import type { Tx } from '#shared/db/open'
import type { Context } from './context'
import { nextLook } from './look'
import { announceFact, orderEffect } from './order.store'
import { isOnHold, mayBecome, type PaymentState } from './payment'
import { movePayment, type NewPayment, type PaymentRow } from './payment.store'
import type { Step } from './receipt'
import { noteReversal } from './reversal'

type Set = Partial<Omit<NewPayment, 'id' | 'state'>>

/**
 * Takes a decided step: the row and everything announced about it, in the caller's transaction.
 * Undefined when somebody else was first. Throws on a step the lifecycle does not have.
 */
export async function takeStep(
  tx: Tx,
  context: Context,
  payment: PaymentRow,
  step: { next: PaymentState; reason?: PaymentRow['reason'] },
  set: Set = {},
): Promise<PaymentRow | undefined> {
  const to = step.next
  if (!mayBecome(payment, to)) throw new Error(`a ${payment.kind} in ${payment.state} became ${to}`)
  const changed = { ...payment, ...set, state: to, looks: 0 }
  const after = { ...changed, onHold: isOnHold(changed) }
  const lookAt = nextLook(after, context.clock(), context.sweepAfterMs)
  const moved = await movePayment(tx, payment.id, {
    from: [payment.state],
    to,
    lookAt,
    set: { ...set, ...(step.reason ? { reason: step.reason } : {}) },
  })
  if (moved) await tell(tx, context, moved)
  return moved
}

/** A decision that may be to stay. A remainder begins its life anew, under a ref of its own. */
export async function takeDecided(
  tx: Tx,
  context: Context,
  payment: PaymentRow,
  step: Step,
  set: Set = {},
) {
  if ('stay' in step) return undefined
  const anew = 'remainderMicro' in step ? remainderOf(payment, step.remainderMicro) : {}
  return takeStep(tx, context, payment, step, { ...set, ...anew })
}

const remainderOf = ({ part, refundedMinor }: PaymentRow, liveMicro: bigint): Set => ({
  part: part + 1,
  liveMicro,
  refundAppliedMinor: refundedMinor,
  creditedAt: null,
  clearedAt: null,
  holdEndedAt: null,
})

async function tell(tx: Tx, context: Context, payment: PaymentRow): Promise<void> {
  const { log } = context
  const { id: paymentId, kind, state, reason } = payment
  if (state === 'paid') await announceFact(tx, payment, 'paid')
  const ordered = state === 'revoking' || (state === 'paid' && payment.liveMicro > 0n)
  if (ordered) await orderEffect(tx, payment)
  if (state === 'credited' || state === 'repaid') await announceFact(tx, payment, 'settled')
  if (state === 'review') {
    await announceFact(tx, payment, 'review')
    log.error({ paymentId, kind, reason, alarm: true }, 'payment needs a person')
    await noteReversal(tx, context, payment)
    return
  }
  log.info({ paymentId, kind, state }, 'payment moved')
}
