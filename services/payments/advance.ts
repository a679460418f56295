import type { Tx } from '#shared/db/open'
import {
  type Announcement,
  announceAll,
  announceBeside,
  announcement,
} from '#shared/db/outbox.store'
import { messageIdFor } from '#shared/ids'
import { PaymentInReview, PaymentPaid, PaymentSettled } from '#shared/messages/payments'
import { CreditOrdered, ExtendOrdered, RepayOrdered, RevokeOrdered } from '#shared/messages/relay'
import type { Topic } from '#shared/messages/topic'
import { flowSeconds, timer } from '#shared/metrics/measures'
import { requestId, withRequestId } from '#shared/request-id'
import { inSpan } from '#shared/tracing/spans'
import { bookStep } from './books/book'
import type { Context } from './context'
import { nextCheck, type Step } from './decide'
import { isOnHold, mayBecome, type PaymentState, paymentKinds, refIdOf } from './payment'
import { type Change, movePayment, type PaymentRow } from './payment.store'
import { noteReversal } from './refunds/reversal'
import { outbox } from './schema.store'

/**
 * Takes a decided step: the row, what is ordered and announced because of it, and the log line, in
 * the caller's transaction, under the request that opened the payment. Undefined when somebody else was first. Throws on a step the lifecycle
 * does not have.
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
): Promise<PaymentRow | undefined> {
  const to = step.next
  if (!mayBecome(payment, to)) throw new Error(`a ${payment.kind} in ${payment.state} became ${to}`)
  const changed = { ...payment, ...set, state: to, checks: 0 }
  const after = { ...changed, reason: step.reason ?? changed.reason }
  const quiet = { ...after, onHold: isOnHold(after) }
  const booked = bookStep(payment, after)
  const told = announceBeside(tx, outbox, messagesOf(after))
  const moved = await movePayment(tx, payment.id, {
    from: [payment.state],
    to,
    nextCheckAt: nextCheck(quiet, context.clock(), context.sweepAfterMs),
    set: { ...set, ...(step.reason ? { reason: step.reason } : {}) },
    beside: [booked, told?.statement],
  })
  if (!moved) return undefined
  told?.note()
  timeEffect(payment, moved)
  await tell(tx, context, moved)
  return moved
}

/** As far as this transaction goes: one that does not commit is timed again when it is repeated. */
function timeEffect(before: PaymentRow, { kind, held, paidAt, creditedAt }: PaymentRow) {
  if (before.creditedAt || !creditedAt || !paidAt) return
  const tookMs = Math.max(0, creditedAt.getTime() - paidAt.getTime())
  effects.seconds(tookMs / 1_000, { kind, held: held ? 'yes' : 'no' })
}

const effects = timer({
  what: 'payment_paid_to_credited',
  help: 'From the payment, by the time of the provider, to its effect at the final chain.',
  labels: { kind: paymentKinds, held: ['yes', 'no'] },
  buckets: flowSeconds,
})

/** Takes a step unless the decision was to stay. A remainder starts again, under a ref of its own. */
export async function takeDecided(
  tx: Tx,
  context: Context,
  payment: PaymentRow,
  step: Step,
  set: Change = {},
): Promise<PaymentRow | undefined> {
  if ('stay' in step) return undefined
  const restart = 'remainderMicro' in step ? restartOf(payment, step.remainderMicro) : {}
  return takeStep(tx, context, payment, step, { ...set, ...restart })
}

const restartOf = ({ part, refundedMinor }: PaymentRow, liveMicro: bigint): Change => ({
  part: part + 1,
  liveMicro,
  refundAppliedMinor: refundedMinor,
  creditedAt: null,
  clearedAt: null,
  holdEndedAt: null,
})

/**
 * What ending a checkout now does to its end: money paid later is late. A checkout that nobody was
 * given the address of has no end.
 */
const endedBy = ({ expiresAt }: PaymentRow, nowMs: number): Change =>
  expiresAt && expiresAt.getTime() > nowMs ? { expiresAt: new Date(nowMs) } : {}

/** Nobody paid in time. Money that comes late is still received. */
export async function expire(tx: Tx, context: Context, payment: PaymentRow): Promise<void> {
  if (payment.state !== 'awaiting_payment' && payment.state !== 'opening') return
  await takeStep(tx, context, payment, { next: 'expired' }, endedBy(payment, context.clock()))
}

/** Another settlement takes its place. Money that comes late is still received. */
export async function supersede(tx: Tx, context: Context, payment: PaymentRow): Promise<void> {
  const ended = endedBy(payment, context.clock())
  await takeStep(tx, context, payment, { next: 'replaced', reason: 'replaced' }, ended)
}

/**
 * Its checkout was canceled, which only we do, and of one that waits only for another settlement: the
 * call that did may have died before it said so.
 */
export async function endCanceled(tx: Tx, context: Context, payment: PaymentRow): Promise<void> {
  const waits = payment.state === 'awaiting_payment'
  await (waits && payment.kind === 'settlement' ? supersede : expire)(tx, context, payment)
}

async function tell(tx: Tx, context: Context, payment: PaymentRow): Promise<void> {
  const { log } = context
  const { id: paymentId, kind, state, reason } = payment
  if (state === 'review') {
    log.error({ paymentId, kind, reason, alarm: true }, 'payment needs a person')
    await noteReversal(tx, context, payment)
    return
  }
  log.info({ paymentId, kind, state }, 'payment moved')
}

/** What the others are told, and what is ordered, because a payment is in its state now. */
function messagesOf(payment: PaymentRow): Announcement[] {
  switch (payment.state) {
    case 'paid':
      return [factOf(payment, 'paid'), ...(payment.liveMicro > 0n ? [effectOf(payment)] : [])]
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

/** Tells the other services what became of a payment. */
function factOf(payment: PaymentRow, fact: keyof typeof facts): Announcement {
  const topic = facts[fact]
  return announcement(topic, messageIdFor(topic, payment.id), {
    paymentId: payment.id,
    kind: payment.kind,
    wallet: payment.wallet,
    fiat: payment.fiatMinor.toString(),
    currency: payment.currency,
    ausd: payment.ausdMicro.toString(),
  })
}

/** Orders again what the money is for. */
export const orderEffect = (tx: Tx, payment: PaymentRow, repeat: number): Promise<void> =>
  announceAll(tx, outbox, [effectOf(payment, repeat)])

/** The order of what the money is for; the relayer knows the cause of a repeat, and acts once. */
function effectOf(payment: PaymentRow, repeat = 0): Announcement {
  const { wallet, kind } = payment
  const refId = refIdOf(payment)
  const ausd = payment.liveMicro.toString()
  const held = payment.held ?? true
  const idOf = (topic: Topic) => messageIdFor(topic, refId, repeat)
  if (payment.state === 'revoking') {
    const id = idOf(RevokeOrdered)
    return announcement(RevokeOrdered, id, { refId, wallet, of: kind })
  }
  if (kind === 'settlement') {
    if (!payment.paidAt) throw new Error(`settlement ${payment.id} is paid and has no time of it`)
    const paidAt = String(Math.floor(payment.paidAt.getTime() / 1_000))
    const id = idOf(RepayOrdered)
    return announcement(RepayOrdered, id, { refId, wallet, ausd, held, paidAt })
  }
  const id = idOf(CreditOrdered)
  return announcement(CreditOrdered, id, { refId, wallet, ausd, held })
}

/** Asks for more time: the hold is about to end (`until`, unix seconds), and the provider is silent. */
export function orderExtension(tx: Tx, payment: PaymentRow, until: string): Promise<void> {
  const refId = refIdOf(payment)
  const id = messageIdFor(ExtendOrdered, `${refId}:${until}`, String(payment.checks))
  const extension = { refId, wallet: payment.wallet, until }
  return announceAll(tx, outbox, [announcement(ExtendOrdered, id, extension)])
}
