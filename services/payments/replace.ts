import type { Tx } from '#shared/db/open'
import { failpoint } from '#shared/failpoint'
import { type Answer, ok, refuse } from '#shared/refusals'
import { supersede } from './advance'
import type { Context } from './context'
import { findUnsettled, lastRepaidAt, lockPayment, type PaymentRow } from './payment.store'
import { fetchCheckout, receiveCheckout } from './receive'

// A settlement charges the whole debt, so two open checkouts could charge one debt twice. Opening a
// new one first ends the earlier one at the provider. A code already shown may still be paid: that
// money repays under its own ref, and only the excess over the debt becomes collateral.

/**
 * Ends the open settlement of a wallet and returns whether there was one. Skips a settlement with
 * the same quote: that is this request, retried. `may` runs first, so that no open checkout is
 * ended for a request that is refused. Refuses with `settlement_on_its_way` if the settlement is
 * paid but not yet repaid, and `provider_unavailable` if it is unknown whether it can still be
 * paid.
 */
export async function endOpenSettlement(
  context: Context,
  { wallet, quoteId }: { wallet: `0x${string}`; quoteId: string },
  may: () => Promise<Answer<object>>,
): Promise<Answer<{ ended: boolean }>> {
  const found = await context.database.read((db) => findUnsettled(db, wallet))
  const unsettled = found.filter((one) => one.quoteId !== quoteId)
  if (unsettled.some(({ state }) => state === 'paid')) return refuse('settlement_on_its_way')
  const allowed = unsettled.length > 0 ? await may() : ok({})
  if ('refused' in allowed) return allowed
  for (const earlier of unsettled) {
    const answer = await end(context, earlier)
    if ('refused' in answer) return answer
  }
  return ok({ ended: unsettled.length > 0 })
}

async function end(context: Context, earlier: PaymentRow): Promise<Answer<object>> {
  const { provider, database, log } = context
  const { account, checkoutId, openingUntil } = earlier
  if (checkoutId === null) {
    // Another call is opening it; once its lease is over, the checkout was never shown to the user.
    if (openingUntil !== null && openingUntil.getTime() > context.clock())
      return refuse('provider_unavailable')
    return replace(context, earlier)
  }
  const outcome = await provider.cancelCheckout(account, checkoutId)
  failpoint('payments:checkout-ended')
  if (outcome === 'closed') return replace(context, earlier)
  if (outcome === 'unknown') return refuse('provider_unavailable')
  try {
    const found = await fetchCheckout(context, account, checkoutId)
    await database.transaction((tx) => receiveCheckout(tx, context, account, found))
  } catch (error) {
    log.warn({ paymentId: earlier.id, err: error }, 'processing paid checkout failed')
    return refuse('provider_unavailable')
  }
  const unsettled = await database.read((db) => findUnsettled(db, earlier.wallet))
  const paid = unsettled.some(({ state }) => state === 'paid')
  return refuse(paid ? 'settlement_on_its_way' : 'provider_unavailable')
}

/** Marks the settlement as replaced, unless it changed; `maySettle` then sees its new state. */
async function replace(context: Context, earlier: PaymentRow): Promise<Answer<object>> {
  await context.database.transaction(async (tx) => {
    const row = await lockPayment(tx, earlier.id)
    const same =
      row?.state === earlier.state &&
      row.checkoutId === earlier.checkoutId &&
      row.openingUntil?.getTime() === earlier.openingUntil?.getTime()
    if (!row || !same) return
    await supersede(tx, context, row)
  })
  failpoint('payments:settlement-replaced')
  return ok({})
}

/**
 * Returns true if a settlement priced from the debt at `readAt` may be stored: no other is open or
 * in progress, and none has reached the chain since. The caller holds the wallet lock.
 */
export async function maySettle(tx: Tx, wallet: `0x${string}`, readAt: Date): Promise<boolean> {
  if ((await findUnsettled(tx, wallet)).length > 0) return false
  const last = await lastRepaidAt(tx, wallet)
  return last === null || last < readAt
}
