import { and, eq, isNull, or, sql } from 'drizzle-orm'
import type { Db, Tx } from '#shared/db/open'
import type { Context } from './context'
import type { Found } from './finding'
import { findBySession, notePayment, type PaymentRow, payments } from './payment.store'
import type { Checkout } from './payment-provider'
import { receiveCharge } from './receipt.store'
import { takeStep } from './step.store'

/** Lets one copy at a time ask for a checkout; undefined while another does, or has. */
export async function leaseOpening(
  db: Db,
  id: string,
  leaseMs: number,
): Promise<PaymentRow | undefined> {
  const leased = await db
    .update(payments)
    .set({ openingUntil: sql`now() + ${leaseMs} * interval '1 millisecond'` })
    .where(
      and(
        eq(payments.id, id),
        eq(payments.state, 'opening'),
        or(isNull(payments.openingUntil), sql`${payments.openingUntil} < now()`),
      ),
    )
    .returning()
  return leased[0]
}

/** Takes in what the provider says about a checkout. True when money was received. */
export async function receiveCheckout(
  tx: Tx,
  context: Context,
  account: PaymentRow['account'],
  { checkout, fetched }: Found,
): Promise<boolean> {
  if (!checkout) return false
  if (fetched && (await receiveCharge(tx, context, fetched, checkout))) return true
  // Received before, or not yet paid: the checkout itself may still say something new.
  const payment = await findBySession(tx, account, checkout.sessionId)
  if (payment) await noteCheckout(tx, context, payment, checkout)
  return false
}

async function noteCheckout(tx: Tx, context: Context, payment: PaymentRow, checkout: Checkout) {
  const { paymentRequestId } = checkout
  if (paymentRequestId && payment.paymentRequestId === null)
    await notePayment(tx, payment.id, { paymentRequestId })
  if (checkout.status === 'closed') await expire(tx, context, payment)
}

/** Nobody paid in time. Money that comes late all the same is still received. */
export async function expire(tx: Tx, context: Context, payment: PaymentRow): Promise<void> {
  if (payment.state !== 'awaiting_payment' && payment.state !== 'opening') return
  await takeStep(tx, context, payment, { next: 'expired' })
}
