import type { Tx } from '#shared/db/open'
import { recordAnomaly } from './anomaly.store'
import { isHeld } from './channel'
import type { Context } from './context'
import { type Charge, paymentIdFrom } from './payment'
import {
  findByProviderIds,
  findBySession,
  findPayment,
  lockPayment,
  notePayment,
  type PaymentRow,
} from './payment.store'
import type { Checkout, FetchedCharge } from './payment-provider'
import { decideOverpaid, decideReceipt, type Receipt } from './receipt'
import { sumRefunded } from './refund.store'
import { makeGood } from './reversal'
import { takeDecided, takeStep } from './step.store'

/** A succeeded charge, and the checkout that led to it when one was fetched. */
export type Evidence = { readonly charge: Charge; readonly checkout?: Checkout | undefined }

/**
 * The one way money comes in, whoever noticed it: webhook or sweeper, session or payment. True when
 * this call moved the payment to `paid`.
 */
export async function receivePayment(
  tx: Tx,
  context: Context,
  evidence: Evidence,
): Promise<boolean> {
  const { charge } = evidence
  const found = await matchPayment(tx, evidence)
  const payment = found && (await lockPayment(tx, found.id))
  if (!payment) {
    await noteUnmatched(tx, context, charge)
    return false
  }
  const refundedMinor = await sumRefunded(tx, charge.paymentId)
  const receipt = decideReceipt({ ...payment, refundedMinor }, charge)
  if ('known' in receipt) return false
  if ('overpaid' in receipt) {
    await noteOverpaid(tx, context, payment, charge)
    return false
  }
  const held = isHeld(charge.channel)
  const shares = await sharesOf(tx, context, payment, { receipt, held })
  const moved = await takeStep(tx, context, payment, receipt, {
    providerPaymentId: charge.paymentId,
    paymentRequestId: charge.paymentRequestId ?? payment.paymentRequestId,
    channel: charge.channel,
    held,
    paidMinor: charge.paidMinor,
    paidAt: charge.paidAt ?? new Date(context.clock()),
    refundedMinor,
    ...('liveMicro' in receipt ? { refundAppliedMinor: refundedMinor } : {}),
    ...shares,
  })
  if (moved?.state !== 'paid') return false
  // All of it made good what was missing: there is nothing to put on the chain.
  if (moved.liveMicro === 0n)
    await takeStep(tx, context, moved, { next: 'credited', reason: 'made_good' })
  return true
}

/** How a payment divides: what it makes good of earlier reversals, and what goes on the chain. */
async function sharesOf(
  tx: Tx,
  context: Context,
  payment: PaymentRow,
  { receipt, held }: { receipt: Receipt; held: boolean },
) {
  if (!('liveMicro' in receipt)) return {}
  const { liveMicro } = receipt
  if (payment.kind !== 'topup' || held) return { liveMicro }
  const offsetMicro = await makeGood(tx, context, payment, liveMicro)
  if (offsetMicro === 0n) return { liveMicro }
  return { liveMicro: liveMicro - offsetMicro, offsetMicro, reason: 'made_good' as const }
}

/** A charge that has not brought money moves nothing; a status we do not know is shown to a person. */
export async function receiveCharge(
  tx: Tx,
  context: Context,
  fetched: FetchedCharge,
  checkout?: Checkout,
): Promise<boolean> {
  const { status, charge } = fetched
  if (status === 'succeeded') return receivePayment(tx, context, { charge, checkout })
  if (status === 'unknown') {
    const fields = { providerPaymentId: charge.paymentId, alarm: true }
    context.log.error(fields, 'payment has a status we do not know')
  }
  return false
}

/**
 * Whose money this is, by what the provider itself told us: the checkout it completed, our
 * reference on it, or an id of the provider we already hold. Never by what a webhook says.
 */
export async function matchPayment(
  tx: Tx,
  { charge, checkout }: Evidence,
): Promise<PaymentRow | undefined> {
  const ours = (row: PaymentRow | undefined) => (row?.account === charge.account ? row : undefined)
  const byReference = async (reference: string) => {
    const id = paymentIdFrom(reference)
    return id ? ours(await findPayment(tx, id)) : undefined
  }
  const completed = checkout && leadsTo(checkout, charge) ? checkout : undefined
  return (
    (completed && (await findBySession(tx, charge.account, completed.sessionId))) ??
    (completed && (await byReference(completed.reference))) ??
    (await byReference(charge.reference)) ??
    (await findByProviderIds(tx, charge))
  )
}

const leadsTo = (checkout: Checkout, charge: Charge): boolean =>
  checkout.paymentId === charge.paymentId ||
  (checkout.paymentRequestId !== null && checkout.paymentRequestId === charge.paymentRequestId)

async function noteUnmatched(tx: Tx, { log }: Context, charge: Charge): Promise<void> {
  const { account, paymentId, currency, paidMinor } = charge
  const anomaly = { account, object: paymentId, currency, amountMinor: paidMinor }
  if (await recordAnomaly(tx, { kind: 'money_unmatched', ...anomaly }))
    log.error({ providerPaymentId: paymentId, alarm: true }, 'money belongs to no payment of ours')
}

async function noteOverpaid(tx: Tx, context: Context, payment: PaymentRow, charge: Charge) {
  const { account, paymentId: object, currency, paidMinor } = charge
  const anomaly = { account, object, currency, amountMinor: paidMinor, paymentId: payment.id }
  if (!(await recordAnomaly(tx, { kind: 'paid_twice', ...anomaly }))) return
  const overpaidMinor = payment.overpaidMinor + (paidMinor ?? 0n)
  const fields = { paymentId: payment.id, providerPaymentId: object, alarm: true }
  context.log.error(fields, 'payment was paid a second time')
  await notePayment(tx, payment.id, { overpaidMinor })
  const after = { ...payment, overpaidMinor }
  await takeDecided(tx, context, after, decideOverpaid(after), { overpaidMinor })
}
