import type { ChannelKind } from '#shared/messages/activity'
import type { PersonName } from '#shared/messages/identity'
import type { Fiat, Money } from '#shared/money/money'
import type { ProviderAccount } from '#shared/money/pair'
import type { TopupFeesMetadata } from '#shared/money/topup-fee'
import type { ProviderRefusal } from '#shared/provider/problem'
import type { Listed } from '#shared/provider/transactions'

/**
 * Our promise, stored in the checkout's metadata, which only we can read. If our row is lost with a disk, the
 * metadata identifies the wallet and the value of the money.
 */
export type Promised = TopupFeesMetadata & {
  readonly kind: string
  readonly method?: string
  readonly wallet: string
  readonly quote_id: string
  readonly request_fingerprint: string
  readonly rate: string
  /** Spread in basis points; omitted if zero. */
  readonly spread?: string
  readonly ausd: string
}

/** Order of a checkout. `reference` is the payment id. */
export type CheckoutOrder = {
  readonly account: ProviderAccount
  readonly reference: string
  readonly fiat: Money<Fiat>
  readonly description: string
  readonly cardsOnly: boolean
  /** Verified name of the payer, which virtual accounts in Indonesia need of a crypto merchant. Never stored or logged. */
  readonly payerName?: PersonName
  /** True for a checkout without the channels that need the name. */
  readonly namelessOnly?: true
  readonly lifeMs: number
  readonly promised: Promised
}

/** Status of a checkout. `closed` has expired, `cancelled` was ended by us, `unknown` is unrecognised. */
export type CheckoutStatus = 'open' | 'completed' | 'closed' | 'cancelled' | 'unknown'

export type Checkout = {
  readonly checkoutId: string
  readonly reference: string
  readonly status: CheckoutStatus
  readonly checkoutUrl: string | null
  readonly expiresAt: Date | null
  readonly paymentRequestId: string | null
  readonly paymentId: string | null
}

/** Result of the sender verification. Any result other than pending or a success is `failed`. */
export type SenderVerification = 'passed' | 'pending' | 'failed'

/** Payment at the provider. `paidMinor` is null if the provider's amount is inexact. */
export type Charge = {
  readonly account: ProviderAccount
  readonly paymentId: string
  readonly paymentRequestId: string | null
  readonly reference: string
  readonly currency: string
  readonly paidMinor: bigint | null
  /** Channel code of the provider, shown to the user. */
  readonly channel: string
  readonly channelKind: ChannelKind
  readonly paidAt: Date | null
  /** Bank or wallet that the payer paid with, in the provider's words; null if the provider names none. */
  readonly issuer: string | null
  /** Reference of the payment on the payer's own receipt; null if the provider names none. */
  readonly bankReceipt: string | null
  /** Result of the sender verification; omitted if the provider reports none. */
  readonly senderVerification?: SenderVerification
}

/**
 * Status of a charge. `dead` never succeeds; `voided` was cancelled, possibly after a success; `unknown` does
 * not count as a success.
 */
export type ChargeStatus = 'succeeded' | 'pending' | 'dead' | 'voided' | 'unknown'
export type FetchedCharge = { readonly status: ChargeStatus; readonly charge: Charge }

export type RefundStatus = 'pending' | 'succeeded' | 'dead' | 'unknown'
export type FetchedRefund = {
  readonly refundId: string
  readonly status: RefundStatus
  readonly paymentId: string | null
  readonly paymentRequestId: string | null
  /** Our reference if we ordered the refund, otherwise the provider's. */
  readonly reference: string | null
  readonly currency: string
  readonly refundedMinor: bigint | null
}

/**
 * Stage of a dispute. `evidence_due`: it is lost unless we answer in time; `under_review`: our evidence is being reviewed;
 * `unknown` is unrecognised.
 */
export type DisputeStage = 'evidence_due' | 'under_review' | 'won' | 'lost' | 'unknown'

/** Dispute of a payment by its payer. Amounts in the smallest unit; null if inexact. */
export type FetchedDispute = {
  readonly disputeId: string
  readonly stage: DisputeStage
  readonly paymentId: string | null
  /** Our reference of the payment. */
  readonly reference: string | null
  readonly currency: string
  readonly initialMinor: bigint | null
  /** Amount of the decision; undefined before it. */
  readonly finalMinor: bigint | null | undefined
  /** Time until which evidence can be given. */
  readonly dueAt: Date | null
}

/** Order of a refund. The same order always makes the same request. */
export type RefundOrder = {
  readonly account: ProviderAccount
  readonly paymentRequestId: string
  /** Our reference on the refund, which is also the idempotency key of the request. */
  readonly reference: string
  readonly fiat: Money<Fiat>
  /** True for a second payment of the same checkout. */
  readonly isSecond: boolean
}

/** Outcome of a cancellation. `unknown`: the checkout may still be paid. */
export type CancelOutcome = 'closed' | 'completed' | 'unknown'

/**
 * Content of a webhook. It is only a hint: the token proves little, so the objects it names are fetched with
 * our own key.
 */
export type Hint =
  | ({ about: 'checkout'; checkoutId: string } & Paid & Named)
  | ({ about: 'payment'; paymentId: string } & Paid & Named)
  | ({ about: 'payment_request'; paymentRequestId: string } & Named)
  | ({ about: 'refund'; refundId: string } & PaymentNamed & Named)
  | ({ about: 'dispute'; disputeId: string } & PaymentNamed & Named)
  | { about: 'payout' }
  /** `object` is an id that the body has, or null. */
  | { about: 'unknown'; event: string; object: string | null }

/** Ids of the payment that a refund or dispute is about. `paymentId` may be the id of the payment request. */
type PaymentNamed = { paymentId: string | null; paymentRequestId: string | null }

/** Id of the payment that the webhook says has succeeded. */
type Paid = { paidBy?: string }

/** Our reference, if the webhook has one. Webhooks with the same reference are processed in order. */
type Named = { reference?: string }

/**
 * Port to a payment provider. Lookups return undefined if the object does not exist, and throw
 * `ProviderUnknown` or `ProviderBusy` if the outcome is unknown; the error of a refused lookup contains the
 * refusal.
 */
export type PaymentProvider = {
  /** Returns undefined if the provider refused. Not idempotent: a retry opens another checkout. */
  readonly openCheckout: (order: CheckoutOrder) => Promise<Checkout | undefined>
  /** Never throws. */
  readonly cancelCheckout: (account: ProviderAccount, checkoutId: string) => Promise<CancelOutcome>
  readonly findCheckout: (account: ProviderAccount, checkoutId: string) => Promise<Checkout | undefined>
  readonly findCharge: (account: ProviderAccount, paymentId: string) => Promise<FetchedCharge | undefined>
  /** Returns the latest payment of a payment request; null if the request is unpaid. */
  readonly findChargeOfRequest: (
    account: ProviderAccount,
    paymentRequestId: string,
  ) => Promise<FetchedCharge | null | undefined>
  readonly findRefund: (account: ProviderAccount, refundId: string) => Promise<FetchedRefund | undefined>
  readonly findDispute: (account: ProviderAccount, disputeId: string) => Promise<FetchedDispute | undefined>
  /**
   * Returns undefined if the provider knows no refunds. That means "none" only if the list of transactions
   * could be read too.
   */
  readonly listRefunds: (account: ProviderAccount, paymentRequestId: string) => Promise<FetchedRefund[] | undefined>
  /**
   * Orders a refund. A refusal proves nothing about an earlier request; an error leaves the outcome unknown.
   * The provider may forget idempotency keys, so look the refund up before retrying.
   */
  readonly createRefund: (order: RefundOrder) => Promise<{ ok: FetchedRefund } | { refused: ProviderRefusal }>
  /**
   * Returns all transactions that changed within the last `agoMs`, by the provider's clock. Throws if the
   * list cannot be read completely.
   */
  readonly listTransactions: (account: ProviderAccount, agoMs: number) => Promise<Listed[]>
  readonly kindOfChannel: (code: string) => ChannelKind
  /** Reads a webhook. Never throws: an unreadable webhook is `unknown`. */
  readonly readDelivery: (body: string) => Hint
}
