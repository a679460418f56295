import type { ChannelKind } from '#shared/messages/activity'
import type { Fiat, Money } from '#shared/money/money'
import type { ProviderAccount } from '#shared/money/pair'
import type { ProviderRefusal } from '#shared/provider/problem'
import type { Listed } from '#shared/provider/transactions'

/**
 * What we promise for a payment, as words. The provider keeps them beside the checkout and shows them
 * to us alone: should our own row be lost with a disk, they say whose money it is and what it is worth.
 */
export type Promised = {
  readonly kind: string
  /** How it was to be paid, of a top-up. */
  readonly method?: string
  readonly wallet: string
  readonly quote_id: string
  readonly taken_by: string
  readonly rate: string
  /** Basis points; left out when there is none. */
  readonly spread?: string
  readonly ausd: string
}

/** What we ask a hosted checkout for. `reference` is the payment id. */
export type CheckoutOrder = {
  readonly account: ProviderAccount
  readonly reference: string
  readonly fiat: Money<Fiat>
  readonly description: string
  readonly cardsOnly: boolean
  readonly expiresAt: Date
  readonly promised: Promised
}

/**
 * `open` may still be paid. `closed` and `canceled` may not: its time came, or we ended it.
 * `unknown` is a word we have never seen.
 */
export type CheckoutStatus = 'open' | 'completed' | 'closed' | 'canceled' | 'unknown'

export type Checkout = {
  readonly checkoutId: string
  readonly reference: string
  readonly status: CheckoutStatus
  readonly checkoutUrl: string | null
  readonly expiresAt: Date | null
  readonly paymentRequestId: string | null
  readonly paymentId: string | null
}

/**
 * Of a merchant of the virtual-asset category, the provider compares who paid with who should have.
 * `pending` is not decided yet; every word that is neither that nor a success is `failed`.
 */
export type SenderVerification = 'passed' | 'pending' | 'failed'

/** A payment at the provider. `paidMinor` is null when the provider's number is not exact. */
export type Charge = {
  readonly account: ProviderAccount
  readonly paymentId: string
  readonly paymentRequestId: string | null
  readonly reference: string
  readonly currency: string
  readonly paidMinor: bigint | null
  /** The provider's own code, as the user reads it. */
  readonly channel: string
  readonly channelKind: ChannelKind
  readonly paidAt: Date | null
  /** Left out where the provider says nothing of it, as to all other merchants. */
  readonly senderVerification?: SenderVerification
}

/** `pending` has not brought money that counts yet and may; `dead` never will; `unknown` is not good news. */
export type ChargeStatus = 'succeeded' | 'pending' | 'dead' | 'unknown'
export type FetchedCharge = { readonly status: ChargeStatus; readonly charge: Charge }

export type RefundStatus = 'pending' | 'succeeded' | 'dead' | 'unknown'
export type FetchedRefund = {
  readonly refundId: string
  readonly status: RefundStatus
  readonly paymentId: string | null
  readonly paymentRequestId: string | null
  /** Ours, if it was we who ordered it; the provider's own otherwise. */
  readonly reference: string | null
  readonly currency: string
  readonly refundedMinor: bigint | null
}

/** Money of a charge that is to go back to its payer. The same order always makes the same request. */
export type RefundOrder = {
  readonly account: ProviderAccount
  readonly paymentRequestId: string
  /** Ours, on the refund and as the key of the request. */
  readonly reference: string
  readonly fiat: Money<Fiat>
  /** The payer paid twice; this is one payment too many. */
  readonly isSecond: boolean
}

/** What became of a checkout that was to be ended. `unknown`: it may still be paid. */
export type CancelOutcome = 'closed' | 'completed' | 'unknown'

/**
 * What a delivery is about. A hint and no more: the token proves little, so nothing in it is
 * believed, and the objects it names are fetched with our own key.
 */
export type Hint =
  | ({ about: 'checkout'; checkoutId: string } & Named)
  | ({ about: 'payment'; paymentId: string } & Named)
  | ({ about: 'payment_request'; paymentRequestId: string } & Named)
  | {
      about: 'refund'
      refundId: string
      paymentId: string | null
      paymentRequestId: string | null
    }
  | { about: 'payout' }
  | { about: 'unknown'; event: string }

/** Our reference as a delivery names it: deliveries of the same are worked on in turn. */
type Named = { reference?: string }

/**
 * The payment provider as this service needs it. Every look-up answers undefined for "no such
 * thing" and throws `ProviderUnknown` or `ProviderBusy` when nothing can be said; one that was
 * refused carries the refusal, and whoever asked knows whose id it was.
 */
export type PaymentProvider = {
  /** Undefined when the provider refused. There is no idempotency: a repeat is another checkout. */
  readonly openCheckout: (order: CheckoutOrder) => Promise<Checkout | undefined>
  /** Ends a checkout and says what became of it. Never throws. */
  readonly cancelCheckout: (account: ProviderAccount, checkoutId: string) => Promise<CancelOutcome>
  readonly findCheckout: (
    account: ProviderAccount,
    checkoutId: string,
  ) => Promise<Checkout | undefined>
  readonly findCharge: (
    account: ProviderAccount,
    paymentId: string,
  ) => Promise<FetchedCharge | undefined>
  /** The latest payment of a payment request; null for a request that nobody paid so far. */
  readonly findChargeOfRequest: (
    account: ProviderAccount,
    paymentRequestId: string,
  ) => Promise<FetchedCharge | null | undefined>
  readonly findRefund: (
    account: ProviderAccount,
    refundId: string,
  ) => Promise<FetchedRefund | undefined>
  /**
   * All refunds of a payment request. Undefined when the provider knows none or has no such list:
   * that counts as "none" only if its list of transactions could be read as well.
   */
  readonly listRefunds: (
    account: ProviderAccount,
    paymentRequestId: string,
  ) => Promise<FetchedRefund[] | undefined>
  /**
   * Asks for a refund. A refusal says that this request did nothing, and nothing of an earlier one;
   * whatever is thrown leaves it unknown. The provider may forget keys: look it up before a repeat.
   */
  readonly createRefund: (
    order: RefundOrder,
  ) => Promise<{ ok: FetchedRefund } | { refused: ProviderRefusal }>
  /** Payments, refunds and chargebacks that changed since, whole or not at all. */
  readonly listTransactions: (account: ProviderAccount, updatedFrom: Date) => Promise<Listed[]>
  /** What kind of money moves through a channel; `unknown` of a code that was never seen. */
  readonly kindOfChannel: (code: string) => ChannelKind
  /** Reads a delivery leniently; whatever cannot be read is `unknown`, never an error. */
  readonly readDelivery: (body: string) => Hint
}
