import type { ProviderAccount } from '#shared/money/pair'
import type { Checkout, FetchedCharge, FetchedRefund, Hint, PaymentProvider } from '../provider'

/** What the provider says about the object a hint names; undefined for what it does not know. */
export type Found = {
  readonly checkout?: Checkout | undefined
  readonly fetched?: FetchedCharge | undefined
  readonly refund?: FetchedRefund | undefined
}

/** Asks the provider with the account's own key. Throws when it cannot be asked. */
export async function findFacts(
  provider: PaymentProvider,
  account: ProviderAccount,
  hint: Hint,
): Promise<Found> {
  switch (hint.about) {
    case 'checkout':
      return fetchCheckout(provider, account, hint.checkoutId)
    case 'payment':
      return { fetched: await provider.findCharge(account, hint.paymentId) }
    case 'payment_request':
      return { fetched: await provider.findChargeOfRequest(account, hint.paymentRequestId) }
    case 'refund': {
      const refund = await provider.findRefund(account, hint.refundId)
      return { refund, fetched: refund && (await findRefunded(provider, account, refund)) }
    }
    default:
      return {}
  }
}

/** A checkout and the charge it led to. An open one that has a charge names it once it completes. */
export async function fetchCheckout(
  provider: PaymentProvider,
  account: ProviderAccount,
  checkoutId: string,
): Promise<Found> {
  const checkout = await provider.findCheckout(account, checkoutId)
  if (!checkout) return {}
  const { paymentId, paymentRequestId, status } = checkout
  if (paymentId) return { checkout, fetched: await provider.findCharge(account, paymentId) }
  if (!paymentRequestId || status === 'open') return { checkout }
  // A transfer may settle after its checkout closed.
  return { checkout, fetched: await provider.findChargeOfRequest(account, paymentRequestId) }
}

const findRefunded = async (
  provider: PaymentProvider,
  account: ProviderAccount,
  { paymentId, paymentRequestId }: FetchedRefund,
) => {
  if (paymentId) return provider.findCharge(account, paymentId)
  return paymentRequestId ? provider.findChargeOfRequest(account, paymentRequestId) : undefined
}
