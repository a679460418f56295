import { askOr } from '#platform/bus/ask'
import { failpoint } from '#platform/failpoint'
import { VerifiedName } from '#shared/messages/identity'
import { money } from '#shared/money/money'
import { topupFeesFrom, topupFeesMetadata } from '#shared/money/topup-fee'
import { type Answer, ok, refuse } from '#shared/refusals'
import type { Context } from '../context'
import { nextCheck } from '../decide'
import { findByQuote, movePayment, recordPayment } from '../payment.store'
import type { PaymentRow } from '../payment.table'
import type { Checkout, CheckoutOrder } from '../provider'

export type PaymentResult = {
  paymentId: string
  checkoutUrl: string
  fiat: string
  ausd: string
}

export function resultOf(payment: PaymentRow): PaymentResult | undefined {
  if (payment.checkoutUrl === null) return undefined
  return {
    paymentId: payment.id,
    checkoutUrl: payment.checkoutUrl,
    fiat: payment.fiatMinor.toString(),
    ausd: (payment.promisedMicro ?? payment.ausdMicro).toString(),
  }
}

export const releaseOpening = ({ database }: Context, { id }: PaymentRow) =>
  database.run((db) => recordPayment(db, id, { openingUntil: null }))

/** Opens the provider's checkout and stores it. The caller holds the lease on `payment`. */
export async function openCheckout(context: Context, payment: PaymentRow): Promise<Answer<PaymentResult>> {
  const payer = await payerOf(context, payment)
  if ('refused' in payer) {
    await releaseOpening(context, payment)
    return payer
  }
  const checkout = await askForCheckout(context, payment, payer.ok)
  if (!checkout?.checkoutUrl) {
    await releaseOpening(context, payment)
    return refuse('provider_unavailable')
  }
  failpoint('payments:checkout-opened')
  const stored = await storeCheckout(context, payment, checkout)
  failpoint('payments:checkout-stored')
  const result = stored && resultOf(stored)
  return result ? ok(result) : refuse('provider_unavailable')
}

type Payer = Pick<CheckoutOrder, 'payerName' | 'namelessOnly'>

/** Time to wait for the name, in ms. All requests of a checkout must fit into the gateway's timeout. */
const nameMs = 1_200

/**
 * Returns the payer's name for a checkout that offers virtual accounts in Indonesia: the law wants it there, and nowhere else.
 * Without a name in time, a top-up is refused, since none has to be made now. A settlement is not, because a debt must always
 * be payable: its checkout then offers the channels that need no name.
 */
async function payerOf({ ask, sendsPayerName }: Context, payment: PaymentRow): Promise<Answer<Payer>> {
  if (!sendsPayerName || payment.account !== 'ID' || payment.method === 'card') return ok({})
  const found = await askOr(ask, VerifiedName, { wallet: payment.wallet }, 'payer_name_unavailable', nameMs)
  if ('ok' in found && found.ok.name) return ok({ payerName: found.ok.name })
  return payment.kind === 'settlement' ? ok({ namelessOnly: true }) : refuse('payer_name_unavailable')
}

/**
 * Returns undefined if the provider refused or its response is unclear. After an unclear response the
 * provider may have an unused checkout, which is harmless: its URL was never shown.
 */
async function askForCheckout(context: Context, payment: PaymentRow, payer: Payer): Promise<Checkout | undefined> {
  const { provider, checkoutTtlMs, log } = context
  try {
    const checkout = await provider.openCheckout({
      account: payment.account,
      reference: payment.id,
      fiat: money(payment.fiatMinor, payment.currency),
      description: payment.kind === 'topup' ? 'Credit line top-up' : 'Credit line repayment',
      cardsOnly: payment.method === 'card',
      ...payer,
      lifeMs: checkoutTtlMs,
      promised: {
        kind: payment.kind,
        ...(payment.method ? { method: payment.method } : {}),
        wallet: payment.wallet,
        quote_id: payment.quoteId,
        request_fingerprint: payment.requestFingerprint,
        rate: payment.rateMinorPerUsd.toString(),
        ...(payment.spreadBps > 0 ? { spread: String(payment.spreadBps) } : {}),
        ...topupFeesMetadata(topupFeesFrom(payment.topupFees ?? '')),
        ausd: payment.ausdMicro.toString(),
      },
    })
    if (!checkout) log.alarm({ paymentId: payment.id }, 'checkout refused by provider')
    return checkout
  } catch (error) {
    log.warn({ paymentId: payment.id, err: error }, 'opening checkout failed')
    return undefined
  }
}

async function storeCheckout(
  context: Context,
  payment: PaymentRow,
  checkout: Checkout,
): Promise<PaymentRow | undefined> {
  const { database, provider, log, checkoutTtlMs, recheckAfterMs } = context
  const { checkoutId, checkoutUrl, paymentRequestId } = checkout
  // The rate is not locked longer than we ordered, whatever end the provider reports.
  const latestMs = context.clock() + checkoutTtlMs
  const expiresAt = new Date(Math.min(checkout.expiresAt?.getTime() ?? latestMs, latestMs))
  const next = { ...payment, state: 'awaiting_payment' as const, checks: 0, expiresAt }
  const moved = await database.run((db) =>
    movePayment(db, payment.id, {
      from: 'opening',
      to: next.state,
      nextCheckAt: nextCheck(next, context.clock(), recheckAfterMs),
      set: { checkoutId, checkoutUrl, expiresAt, paymentRequestId, openingUntil: null },
    }),
  )
  if (moved) {
    log.info({ paymentId: payment.id, kind: payment.kind }, 'checkout opened')
    return moved
  }
  await provider.cancelCheckout(payment.account, checkoutId)
  failpoint('payments:checkout-ended')
  return database.read((db) => findByQuote(db, payment.quoteId))
}
