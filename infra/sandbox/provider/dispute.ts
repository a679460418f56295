import { currencyOf } from '../account'
import { type Context, nowMs, nowText } from '../context'
import { newId } from '../ids'
import { majorFromMinor } from '../money'
import type { Chargeback, Dispute, Naming, Payment } from '../records'
import { moveChargeback, openChargeback } from './chargeback'
import type { ProviderCall, ProviderEndpoint } from './endpoint'
import { Problem } from './problem'
import { nameOfPayment } from './refund'

// Disputes as in docs.xendit.co/docs/manage-disputes-via-api: each change is told by a webhook, whose body is flat.

export const disputeEndpoints: readonly ProviderEndpoint[] = [{ method: 'GET', path: '/v1/disputes/:id', run: get }]

const evidenceDays = 7
const dayMs = 86_400_000

/** Returns a dispute as in webhooks and `GET /v1/disputes/:id`. Its amounts are texts with two decimals. */
export function disputeBody({ book }: Pick<Context, 'book'>, dispute: Dispute): Record<string, unknown> {
  const { account, paymentId, channelCode, amountMinor, finalMinor } = dispute
  const requestId = book.get('payments', paymentId)?.requestId ?? ''
  const textOf = (minor: bigint) => majorFromMinor(minor, currencyOf[account]).toFixed(2)
  return {
    id: dispute.id,
    channel_code: channelCode,
    card_brands: channelCode === 'CARDS' ? 'VISA' : null,
    status: dispute.status,
    status_reason: dispute.statusReason,
    currency: dispute.currency ?? currencyOf[account],
    amount: { initial: textOf(amountMinor), terminal: finalMinor === null ? null : textOf(finalMinor) },
    created_at: dispute.createdAt,
    updated_at: dispute.updatedAt,
    due_date: dispute.dueAt,
    note: null,
    category: { name: 'fraud', allowed_evidence: [] },
    related_disputes: [],
    payment_id: nameOfPayment(dispute.names, { paymentId, requestId }),
    reference_id: dispute.referenceId,
    evidences: [],
  }
}

/**
 * Opens a dispute, which names its payment by an id or by our reference, or by both. One that is asked to name it by an
 * older id has no reference.
 */
export function openDispute(
  context: Context,
  payment: Payment,
  ask: Pick<Dispute, 'amountMinor'> & Partial<Pick<Dispute, 'dueAt' | 'names' | 'currency' | 'referenceId'>>,
): Dispute {
  const now = nowText(context)
  const names = ask.names ?? context.chance.oneOf<Naming>(['payment', 'request', 'none'])
  const dispute = context.book.save('disputes', {
    id: newId(context, 'dispute'),
    account: payment.account,
    paymentId: payment.id,
    names,
    referenceId:
      names === 'older'
        ? null
        : context.chance.oneOf([payment.referenceId, names === 'none' ? payment.referenceId : null]),
    channelCode: payment.channelCode,
    status: 'ACTION_REQUIRED',
    statusReason: null,
    finalMinor: null,
    dueAt: new Date(nowMs(context) + evidenceDays * dayMs).toISOString(),
    ...ask,
    createdAt: now,
    updatedAt: now,
  })
  tell(context, dispute)
  return dispute
}

/**
 * Changes a dispute. The money of one that is lost is taken back by a chargeback, whose row in the list may name the
 * dispute, the payment or neither, or the object in `names`. A later decision changes that chargeback: its amount, or it is reversed.
 */
export function moveDispute(
  context: Context,
  dispute: Dispute,
  change: Partial<Pick<Dispute, 'status' | 'statusReason' | 'finalMinor' | 'dueAt'>>,
  names?: Chargeback['names'],
): Dispute {
  const moved = context.book.save('disputes', { ...dispute, ...change, updatedAt: nowText(context) })
  if (moved.status === 'LOST') takeBack(context, moved, names)
  if (moved.status === 'WON') giveBack(context, moved)
  tell(context, moved)
  return moved
}

const chargebackOf = ({ book }: Context, { id }: Dispute) => book.find('chargebacks', (one) => one.disputeId === id)

function takeBack(context: Context, dispute: Dispute, asked: Chargeback['names']): void {
  const { finalMinor, amountMinor, id: disputeId, paymentId, currency } = dispute
  const lost = { amountMinor: finalMinor ?? amountMinor, status: 'SUCCESS' } as const
  const taken = chargebackOf(context, dispute)
  if (taken?.status === lost.status && taken.amountMinor === lost.amountMinor) return
  if (taken) return void moveChargeback(context, taken, lost)
  const payment = context.book.get('payments', paymentId)
  const names = asked ?? context.chance.oneOf(['dispute', 'payment', undefined] as const)
  const named = { ...(names && { names }), ...(currency && { currency }) }
  if (payment) openChargeback(context, payment, { ...lost, disputeId, ...named })
}

function giveBack(context: Context, dispute: Dispute): void {
  const taken = chargebackOf(context, dispute)
  if (taken?.status !== 'SUCCESS') return
  moveChargeback(context, taken, { amountMinor: taken.amountMinor, status: 'REVERSED' })
}

function tell(context: Context, dispute: Dispute): void {
  const event = `dispute.${dispute.status.toLowerCase()}`
  const body = JSON.stringify({ event, ...disputeBody(context, dispute) })
  context.webhooks.send({ source: 'payments', account: dispute.account, event, body })
}

function get(context: Context, call: ProviderCall) {
  const dispute = context.book.get('disputes', call.id('dispute'))
  const isHidden = context.chance.hits(context.faults.api.hideDisputes)
  if (isHidden || dispute?.account !== call.account) throw new Problem('DATA_NOT_FOUND', 'Dispute not found')
  return { body: disputeBody(context, dispute) }
}
