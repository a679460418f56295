import type { Account } from './account'

/** Session of the hosted checkout. Times of all records are ISO 8601 UTC with milliseconds. */
export type PaymentSession = {
  readonly id: string
  readonly account: Account
  readonly status: 'ACTIVE' | 'COMPLETED' | 'EXPIRED' | 'CANCELED'
  readonly referenceId: string
  readonly amountMinor: bigint
  readonly captureMethod: 'AUTOMATIC' | 'MANUAL'
  /** Allowed channels. If empty, every channel of the country is allowed. */
  readonly allowedChannels: readonly string[]
  readonly customerId: string | null
  readonly customerReference: string | null
  /** Name of the payer, with which a crypto merchant must open a session. */
  readonly payerName?: string
  readonly description: string | null
  readonly locale: string
  readonly successReturnUrl: string | null
  readonly cancelReturnUrl: string | null
  /** Fields that responses only echo, such as items, metadata and notification_channels. */
  readonly echoed: Record<string, unknown>
  readonly attempts: number
  readonly requestId: string | null
  readonly paymentId: string | null
  readonly createdAt: string
  readonly updatedAt: string
  readonly expiresAt: string
}

export type PaymentRequest = {
  readonly id: string
  readonly account: Account
  readonly sessionId: string
  readonly referenceId: string
  readonly channelCode: string
  readonly amountMinor: bigint
  readonly captureMethod: 'AUTOMATIC' | 'MANUAL'
  readonly status:
    | 'ACCEPTING_PAYMENTS'
    | 'REQUIRES_ACTION'
    | 'AUTHORIZED'
    | 'SUCCEEDED'
    | 'FAILED'
    | 'EXPIRED'
    | 'CANCELED'
  readonly failureCode: string | null
  readonly latestPaymentId: string | null
  readonly createdAt: string
  readonly updatedAt: string
}

export type Payment = {
  readonly id: string
  readonly account: Account
  readonly sessionId: string
  readonly requestId: string
  readonly referenceId: string
  readonly channelCode: string
  readonly requestMinor: bigint
  /** Captured amount, which is zero until the capture. */
  readonly capturedMinor: bigint
  readonly captureId: string | null
  readonly capturedAt: string | null
  readonly captureMethod: 'AUTOMATIC' | 'MANUAL'
  readonly status: 'AUTHORIZED' | 'SUCCEEDED' | 'FAILED' | 'EXPIRED'
  readonly failureCode: string | null
  readonly forced?: ForcedStatus
  /** Result of the payer's verification. If absent, the payer was not verified. */
  readonly sender?: string
  readonly createdAt: string
  readonly updatedAt: string
}

/**
 * What a control set: `status` of the object itself, `listed` of its row in the list of transactions. A payment that is
 * `hidden` is found by no look-up, as shortly after it was made.
 */
export type ForcedStatus = { readonly status?: string; readonly listed?: string; readonly hidden?: true }

/** Id by which a refund or dispute names its payment: its own, its request's, or one of an older API; or none. */
const namings = ['payment', 'request', 'older', 'none'] as const
export type Naming = (typeof namings)[number]
export const isNaming = (word: unknown): word is Naming => namings.includes(word as Naming)

export type Refund = {
  readonly id: string
  readonly account: Account
  readonly requestId: string
  readonly paymentId: string
  readonly referenceId: string | null
  readonly channelCode: string
  readonly amountMinor: bigint
  readonly reason: string
  readonly status: 'PENDING' | 'SUCCEEDED' | 'FAILED'
  readonly failureCode: string | null
  readonly metadata: unknown
  /** Absent if the request had no idempotency key. */
  readonly asked?: { readonly key: string; readonly body: string; readonly replays: number }
  /** Set if the refund's row in the list never has its id. */
  readonly nameless?: true
  /** Set if the refund stays pending until a control ends it. */
  readonly stays?: true
  readonly forced?: ForcedStatus
  readonly names: Naming
  /** Version of the API that knows the refund. If absent, it is the legacy one. */
  readonly version?: 3
  readonly createdAt: string
  readonly updatedAt: string
}

export const transactionStatuses = ['PENDING', 'SUCCESS', 'FAILED', 'VOIDED', 'REVERSED'] as const
export type TransactionStatus = (typeof transactionStatuses)[number]

/** Chargeback, which is visible only in the list of transactions. */
export type Chargeback = {
  readonly id: string
  readonly account: Account
  readonly requestId: string
  readonly paymentId: string
  /** Reference of the payment. */
  readonly referenceId: string
  readonly channelCode: string
  readonly amountMinor: bigint
  /** Object that its row names besides our reference. If absent, the row names none. */
  readonly names?: 'payment' | 'request' | 'dispute'
  readonly disputeId?: string
  /** Currency of the dispute. If absent, it is the account's. */
  readonly currency?: string
  readonly status: TransactionStatus
  readonly createdAt: string
  readonly updatedAt: string
}

export type Dispute = {
  readonly id: string
  readonly account: Account
  readonly paymentId: string
  readonly names: Naming
  /** Currency of the dispute. If absent, it is the account's. */
  readonly currency?: string
  /** Reference of the payment; null if the dispute has none. */
  readonly referenceId: string | null
  readonly channelCode: string
  /** `ACTION_REQUIRED`, `UNDER_REVIEW`, `WON`, `LOST`, or any word that a control set. */
  readonly status: string
  readonly statusReason: string | null
  readonly amountMinor: bigint
  /** Amount of the decision; null before it. */
  readonly finalMinor: bigint | null
  readonly dueAt: string
  readonly createdAt: string
  readonly updatedAt: string
}

/** Statuses of payouts whose money is in the account again. */
export const failedPayouts = ['FAILED', 'REVERSED', 'CANCELLED', 'COMPLIANCE_REJECTED'] as const

export type Payout = {
  readonly id: string
  /** API version. If absent, it is 2. */
  readonly version?: 3
  readonly account: Account
  readonly idempotencyKey: string
  readonly canonicalBody: string
  readonly replays: number
  readonly referenceId: string
  readonly channelCode: string
  readonly accountNumber: string
  readonly accountHolderName: string
  readonly amountMinor: bigint
  /** Set if the balance was too low, so that the payout will fail. */
  readonly unfunded?: true
  readonly echoed: Record<string, unknown>
  readonly status: 'ACCEPTED' | 'REQUESTED' | 'SUCCEEDED' | (typeof failedPayouts)[number]
  readonly forced?: ForcedStatus
  readonly failureCode: string | null
  readonly createdAt: string
  readonly updatedAt: string
}

export type AccountHolder = {
  /** Bank code and account number. */
  readonly id: string
  readonly found: boolean
  readonly name: string | null
  /** Probability of refusing a payout to the account, as for an unavailable bank. If absent, it is zero. */
  readonly refuses?: number
}

/** Top-up or withdrawal by the account's owner. */
export type OwnMove = {
  readonly id: string
  readonly account: Account
  readonly amountMinor: bigint
  readonly createdAt: string
  readonly updatedAt: string
}

/** Fee in basis points, on movements that started at `since` or later. */
export type Tariff = { readonly id: string; readonly since: string; readonly bps: number }

/** Applicant at an identity provider. `id` is `<provider>:<wallet>`. */
export type Applicant = {
  readonly id: string
  readonly provider: IdentityProvider
  readonly wallet: string
  readonly providerRef: string
  /** Key of the person. Applicants with equal keys are one person; null stands for a person of its own. */
  readonly person: string | null
  readonly verdict: string | null
  /** Verdict that look-ups return. Null before the first event. */
  readonly standing: VendorVerdict | null
  readonly updatedAt: string
}

/** Latest event of this environment, by the provider's clock. */
export type VendorVerdict = {
  readonly verdict: string
  /** Sumsub's verification level or Persona's inquiry template. */
  readonly level: string
  readonly at: string
  /** For a deactivation: the verdict before it, which stands again once the applicant is activated. */
  readonly suspended?: VendorVerdict | null
}

export type IdentityProvider = 'sumsub' | 'persona'

export type IdentityLink = {
  readonly id: string
  readonly provider: IdentityProvider
  readonly wallet: string
  readonly expiresAt: string
}

/** Attempt to deliver a webhook. `status` is null if there was no response. */
export type WebhookAttempt = {
  readonly at: string
  readonly status: number | null
  readonly answer: string
  readonly tookMs: number
}

/** Delivery of an event. A duplicated event has several. */
export type Webhook = {
  readonly id: string
  readonly webhookId: string
  readonly source: 'payments' | IdentityProvider
  readonly account: Account | null
  readonly event: string
  readonly body: string
  readonly state: 'pending' | 'delivered' | 'dropped' | 'exhausted'
  readonly retries: number
  readonly nextAttemptAt: string | null
  readonly attempts: readonly WebhookAttempt[]
  readonly createdAt: string
}
