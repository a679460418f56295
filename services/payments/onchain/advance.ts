import { keysOf } from '#platform/db/compiled-query'
import type { Tx } from '#platform/db/open'
import { type Announcement, announceAll, announcement, announceWith } from '#platform/db/outbox.store'
import { flowSeconds, timer } from '#platform/metrics/measures'
import { requestId, withRequestId } from '#platform/request-id'
import { inSpan } from '#platform/tracing/spans'
import { messageIdFor } from '#shared/ids'
import { PaymentInReview, PaymentPaid, PaymentSettled } from '#shared/messages/payments'
import { CreditOrdered, ExtendOrdered, RepayOrdered, RevokeOrdered } from '#shared/messages/relay'
import type { Topic } from '#shared/messages/topic'
import type { Context } from '../context'
import { decideOverpaid, hasSecondLeft, nextCheck, type Step, waivedMicro } from '../decide'
import { bookStep } from '../ledger/book'
import { recordReversal } from '../losses/reversal'
import { isOnHold, mayBecome, type PaymentState, paymentKinds, refIdOf, revocationOf } from '../payment'
import { type Change, findUnsettled, moveLocked } from '../payment.store'
import type { PaymentRow } from '../payment.table'
import { outbox } from '../schema.store'

/**
 * Updates the row, books the step, and writes its orders and events to the outbox, under the id of the
 * request that opened the payment. The caller has locked the row. Returns it as it is after the step.
 */
export const takeStep: typeof takeStepNow = (tx, context, payment, ...step) =>
  withRequestId(payment.requestId ?? requestId(), () =>
    inSpan(`${payment.kind} ${step[0].next}`, { attributes: { 'payment.id': payment.id } }, () =>
      takeStepNow(tx, context, payment, ...step),
    ),
  )

async function takeStepNow(
  tx: Tx,
  context: Context,
  payment: PaymentRow,
  step: { next: PaymentState; reason?: PaymentRow['reason'] },
  set: Change = {},
): Promise<PaymentRow> {
  const to = step.next
  // guard: a payment in review is decided once
  if (!mayBecome(payment, to)) throw new Error(`a ${payment.kind} in ${payment.state} became ${to}`)
  const given = Object.fromEntries(keysOf(set).map((key) => [key, set[key as keyof Change]]))
  const asked: PaymentRow = { ...payment, ...given, state: to, checks: 0 }
  // An order that failed gave nothing, and AUSD that was revoked is not waived.
  const writtenOffMicro = waivedMicro(asked)
  const changed = { ...asked, writtenOffMicro }
  const after = { ...changed, reason: step.reason ?? changed.reason }
  const quiet = { ...after, onHold: isOnHold(after) }
  const nextCheckAt = nextCheck(quiet, context.clock(), context.recheckAfterMs)
  const announced = announceWith(tx, outbox, messagesOf(after))
  moveLocked(tx, payment.id, {
    from: payment.state,
    to,
    nextCheckAt,
    set: {
      ...set,
      ...(writtenOffMicro === asked.writtenOffMicro ? {} : { writtenOffMicro }),
      ...(step.reason ? { reason: step.reason } : {}),
    },
    sideWrites: [bookStep(payment, after), announced?.statement],
  })
  announced?.notify()
  const moved = { ...after, nextCheckAt, updatedAt: new Date(context.clock()) }
  timeEffect(payment, moved)
  await tell(tx, context, moved)
  return moved
}

/**
 * Records the time from payment to effect, once per transaction. The retry of a transaction that is rolled
 * back records it again.
 */
function timeEffect(before: PaymentRow, { kind, held, paidAt, creditedAt }: PaymentRow) {
  if (before.creditedAt || !creditedAt || !paidAt) return
  const tookMs = Math.max(0, creditedAt.getTime() - paidAt.getTime())
  effects.seconds(tookMs / 1_000, { kind, held: held ? 'yes' : 'no' })
}

const effects = timer({
  what: 'payment_paid_to_credited',
  help: "Time from the payment (provider's timestamp) to its effect at chain finality, in seconds.",
  labels: { kind: paymentKinds, held: ['yes', 'no'] },
  buckets: flowSeconds,
})

export async function takeDecided(
  tx: Tx,
  context: Context,
  payment: PaymentRow,
  step: Step,
  set: Change = {},
): Promise<PaymentRow | undefined> {
  if ('stay' in step) return undefined
  return takeStep(tx, context, payment, step, { ...set, ...changeOf(payment, step) })
}

/** Leaves a second charge of which money is left to an operator, unless its payment is not at its end yet. Returns the updated row. */
export async function leaveSecond(tx: Tx, context: Context, payment: PaymentRow): Promise<PaymentRow> {
  // guard: a second payment is left to an operator wherever the first one ends
  if (hasSecondLeft(payment)) return (await takeDecided(tx, context, payment, decideOverpaid(payment))) ?? payment
  return payment
}

function changeOf(payment: PaymentRow, step: Exclude<Step, { stay: true }>): Change {
  if ('remainderMicro' in step) return restartOf(payment, step.remainderMicro)
  if ('undone' in step) return restartOf(payment, 0n)
  if ('leftMicro' in step) return { leftMicro: step.leftMicro }
  if (step.next === 'refunded') return { refundAppliedMinor: payment.refundedMinor }
  return {}
}

const restartOf = ({ refSequence, refundedMinor }: PaymentRow, onchainMicro: bigint): Change => ({
  refSequence: refSequence + 1,
  onchainMicro,
  refundAppliedMinor: refundedMinor,
  creditedAt: null,
  refundsCheckedAt: null,
  holdEndedAt: null,
  extendedAt: null,
  lostHold: null,
})

/**
 * Returns the change that ends a checkout now, so that later payments count as late. A checkout that was
 * never shown has no end.
 */
const endedBy = ({ expiresAt }: PaymentRow, nowMs: number): Change =>
  expiresAt && expiresAt.getTime() > nowMs ? { expiresAt: new Date(nowMs) } : {}

export async function expire(tx: Tx, context: Context, payment: PaymentRow): Promise<void> {
  if (!mayBecome(payment, 'expired')) return
  await takeStep(tx, context, payment, { next: 'expired' }, endedBy(payment, context.clock()))
}

/**
 * Cancels a checkout, so that the limits no longer count it. A late payment of it is still received, and then
 * checked against the limits.
 */
export async function cancel(tx: Tx, context: Context, payment: PaymentRow): Promise<void> {
  const ended = endedBy(payment, context.clock())
  if (!ended.expiresAt) return expire(tx, context, payment)
  const step = { next: 'expired', reason: 'cancelled' } as const
  await takeStep(tx, context, payment, step, { ...ended, topupMicro: 0n })
}

export async function supersede(tx: Tx, context: Context, payment: PaymentRow): Promise<void> {
  const ended = endedBy(payment, context.clock())
  await takeStep(tx, context, payment, { next: 'replaced', reason: 'replaced' }, ended)
}

/**
 * Ends a checkout that the provider reports as cancelled. Only we cancel, but our call may have crashed
 * before it updated the row.
 */
export async function endCancelled(tx: Tx, context: Context, payment: PaymentRow): Promise<void> {
  const { state, kind, wallet } = payment
  if (state !== 'awaiting_payment') return expire(tx, context, payment)
  const unsettled = kind === 'settlement' ? await findUnsettled(tx, wallet) : []
  const isReplaced = unsettled.some((other) => other.state === 'opening')
  await (isReplaced ? supersede : cancel)(tx, context, payment)
}

async function tell(tx: Tx, context: Context, payment: PaymentRow): Promise<void> {
  const { log } = context
  const { id: paymentId, kind, state, reason } = payment
  if (state === 'review') {
    log.alarm({ paymentId, kind, reason }, 'payment needs manual review')
  } else log.info({ paymentId, kind, state }, 'payment state changed')
  await recordReversal(tx, context, payment)
}

function messagesOf(payment: PaymentRow): Announcement[] {
  switch (payment.state) {
    case 'paid':
      return [factOf(payment, 'paid'), ...(payment.onchainMicro > 0n ? [effectOf(payment)] : [])]
    case 'revoking':
      return [effectOf(payment)]
    case 'credited':
    case 'repaid':
      return [factOf(payment, 'settled')]
    case 'review':
      return [factOf(payment, 'review')]
    default:
      return []
  }
}

const facts = { paid: PaymentPaid, settled: PaymentSettled, review: PaymentInReview }

/**
 * Builds the event of a step. Integrators ignore an id that they have handled, so a payment that begins anew, and each of its
 * reviews, have ids of their own: `updatedAt` is still the time of the step before.
 */
function factOf(payment: PaymentRow, fact: keyof typeof facts): Announcement {
  const topic = facts[fact]
  const repeat = fact === 'review' ? payment.updatedAt.getTime() : 0
  return announcement(topic, messageIdFor(topic, refIdOf(payment), repeat), {
    paymentId: payment.id,
    kind: payment.kind,
    wallet: payment.wallet,
    fiat: payment.fiatMinor.toString(),
    currency: payment.currency,
    ausd: payment.ausdMicro.toString(),
  })
}

export const orderEffect = (tx: Tx, payment: PaymentRow, repeat: number): void =>
  announceAll(tx, outbox, [effectOf(payment, repeat)])

/** Returns the relayer order for a state. The relayer recognises a resent order by its cause and acts once. */
function effectOf(payment: PaymentRow, repeat = 0): Announcement {
  const { wallet, kind } = payment
  const refId = refIdOf(payment)
  const ausd = payment.onchainMicro.toString()
  const held = payment.held ?? true
  const idOf = (topic: Topic) => messageIdFor(topic, refId, repeat)
  if (payment.state === 'revoking') {
    const { leftMicro } = payment
    const id = messageIdFor(RevokeOrdered, revocationOf(payment), repeat)
    const left = leftMicro > 0n ? { left: leftMicro.toString() } : {}
    return announcement(RevokeOrdered, id, { refId, wallet, of: kind, ...left })
  }
  if (kind === 'settlement') {
    if (!payment.paidAt) throw new Error(`settlement ${payment.id} is paid but has no paidAt`)
    const paidAt = String(Math.floor(payment.paidAt.getTime() / 1_000))
    const id = idOf(RepayOrdered)
    return announcement(RepayOrdered, id, { refId, wallet, ausd, held, paidAt })
  }
  const id = idOf(CreditOrdered)
  return announcement(CreditOrdered, id, { refId, wallet, ausd, held })
}

/** Orders the extension of a hold. `until` is the present end of the hold, in unix seconds. */
export function orderExtension(tx: Tx, payment: PaymentRow, until: string): void {
  const refId = refIdOf(payment)
  const id = messageIdFor(ExtendOrdered, `${refId}:${until}`, String(payment.checks))
  const extension = { refId, wallet: payment.wallet, until }
  announceAll(tx, outbox, [announcement(ExtendOrdered, id, extension)])
}
