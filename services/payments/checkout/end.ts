import type { Tx } from '#platform/db/open'
import { failpoint } from '#platform/failpoint'
import { type Refusal, refuse } from '#shared/refusals'
import type { Context } from '../context'
import { fetchCheckout, receiveCheckout } from '../incoming/receive'
import { lockPayment } from '../payment.store'
import type { PaymentRow } from '../payment.table'

/**
 * Ends a checkout at the provider, then runs `end` on the locked row. Receives the payment of a checkout that
 * was completed. Refuses with `provider_unavailable` if the checkout may still be paid.
 */
export async function endCheckout(
  context: Context,
  payment: PaymentRow,
  end: (tx: Tx, context: Context, row: PaymentRow) => Promise<void>,
): Promise<Refusal | undefined> {
  const { id, state, account, checkoutId } = payment
  // guard: an earlier checkout is ended at the provider before another is opened for its debt
  const outcome = await context.provider.cancelCheckout(account, checkoutId!)
  failpoint('payments:checkout-ended')
  if (outcome === 'unknown') return refuse('provider_unavailable')
  if (outcome === 'completed') return receiveOpen(context, payment)
  await context.database.transaction(async (tx) => {
    const row = await lockPayment(tx, id)
    if (row?.state === state) await end(tx, context, row)
  })
  failpoint('payments:checkout-end-stored')
  return undefined
}

export async function receiveOpen(
  context: Context,
  { id: paymentId, account, checkoutId }: PaymentRow,
): Promise<Refusal | undefined> {
  try {
    const found = await fetchCheckout(context, account, checkoutId!)
    await context.database.transaction((tx) => receiveCheckout(tx, context, account, found))
    return undefined
  } catch (error) {
    context.log.warn({ paymentId, err: error }, 'processing open checkout failed')
    return refuse('provider_unavailable')
  }
}
