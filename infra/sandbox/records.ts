import type { Account } from './account'

/** Hosted payment session. Times are ISO 8601 UTC with milliseconds. */
export type Session = {
  readonly id: string
  readonly account: Account
  readonly status: 'ACTIVE' | 'COMPLETED' | 'EXPIRED' | 'CANCELED'
  readonly referenceId: string
  readonly amountMinor: bigint
  readonly captureMethod: 'AUTOMATIC' | 'MANUAL'
  /** Empty: every channel of the country. */
  readonly allowedChannels: readonly string[]
  readonly customerId: string | null
  readonly customerReference: string | null
  readonly description: string | null
  readonly locale: string
  readonly successReturnUrl: string | null
  readonly cancelReturnUrl: string | null
  /** Fields that are only echoed, such as items, metadata and notification_channels. */
  readonly echoed: Record<string, unknown>
  readonly attempts: number
  readonly requestId: string | null
  readonly paymentId: string | null
  readonly createdAt: string
  readonly updatedAt: string
  readonly expiresAt: string
}

/** Attempt to pay a session through one channel. */
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

/** Payment, successful or not. */
export type Payment = {
  readonly id: string
  readonly account: Account
  readonly sessionId: string
  readonly requestId: string
  readonly referenceId: string
  readonly channelCode: string
  readonly requestMinor: bigint
  /** Zero until captured. */
  readonly capturedMinor: bigint
  readonly captureId: string | null
  readonly capturedAt: string | null
  readonly captureMethod: 'AUTOMATIC' | 'MANUAL'
  readonly status: 'AUTHORIZED' | 'SUCCEEDED' | 'FAILED' | 'EXPIRED'
  readonly failureCode: string | null
  readonly told?: Told
  readonly createdAt: string
  readonly updatedAt: string
}

/**
 * Statuses that a control has set, in place of those that follow from the record: the word of the
 * object itself, known or not, and the status of its row in the list of transactions.
 */
export type Told = { readonly status?: string; readonly listed?: string }

/** Refund to the payer. */
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
  /**
   * Idempotency key of the request, its body, and how often it was repeated; absent without a key.
   */
  readonly asked?: { readonly key: string; readonly body: string; readonly replays: number }
  readonly told?: Told
  readonly createdAt: string
  readonly updatedAt: string
}

/** Statuses of a row in the list of transactions. */
export const transactionStatuses = ['PENDING', 'SUCCESS', 'FAILED', 'VOIDED', 'REVERSED'] as const
export type TransactionStatus = (typeof transactionStatuses)[number]

/** Payment reversed by the card network; visible only in the list of transactions. */
export type Chargeback = {
  readonly id: string
  readonly account: Account
  readonly requestId: string
  readonly paymentId: string
  /** Account of the payment. */
  readonly referenceId: string
  readonly channelCode: string
  readonly amountMinor: bigint
  /** What its row in the list names besides our reference; absent: nothing. */
  readonly names?: 'payment' | 'request'
  /** Currency of the dispute; absent: that of the account. */
  readonly currency?: string
  readonly status: TransactionStatus
  readonly createdAt: string
  readonly updatedAt: string
}

/** Transfer to a bank account. */
export type Payout = {
  readonly id: string
  /** API version it was created with; absent: 2. */
  readonly version?: 3
  readonly account: Account
  readonly idempotencyKey: string
  /** Request body in canonical JSON: the same key with a different body is refused. */
  readonly canonicalBody: string
  /** Number of times the same request was repeated. */
  readonly replays: number
  readonly referenceId: string
  readonly channelCode: string
  readonly accountNumber: string
  readonly accountHolderName: string
  readonly amountMinor: bigint
  /** Requested while the balance was too low, so it will fail. */
  readonly unfunded?: true
  readonly echoed: Record<string, unknown>
  readonly status: 'ACCEPTED' | 'REQUESTED' | 'SUCCEEDED' | 'FAILED' | 'REVERSED' | 'CANCELLED'
  readonly failureCode: string | null
  readonly createdAt: string
  readonly updatedAt: string
}

/** Name that the bank has for an account; null if it does not say. */
export type AccountHolder = {
  /** Bank code and account number. */
  readonly id: string
  readonly found: boolean
  readonly name: string | null
}

/** Top-up (above 0) or withdrawal by the account's owner, in minor units. */
export type OwnMove = {
  readonly id: string
  readonly account: Account
  readonly amountMinor: bigint
  readonly createdAt: string
  readonly updatedAt: string
}

/** Wallet as an applicant of an identity provider. `id` is `<provider>:<wallet>`. */
export type Applicant = {
  readonly id: string
  readonly provider: IdentityProvider
  readonly wallet: string
  readonly providerRef: string
  /** Applicants with the same key are one person; null: one of its own. */
  readonly person: string | null
  readonly verdict: string | null
  /** State that a look-up returns; null before the first event. */
  readonly standing: Standing | null
  readonly updatedAt: string
}

/** Latest event about an applicant in this environment, by the provider's clock. */
export type Standing = {
  readonly verdict: string
  /** Sumsub's verification level or Persona's inquiry template. */
  readonly level: string
  readonly at: string
}

/** Identity providers that the sandbox implements. */
export type IdentityProvider = 'sumsub' | 'persona'

/** Hosted identity link; `id` is its opaque part. */
export type IdentityLink = {
  readonly id: string
  readonly provider: IdentityProvider
  readonly wallet: string
  readonly expiresAt: string
}

/** Delivery attempt of a webhook; `status` is null if there was no response. */
export type WebhookAttempt = {
  readonly at: string
  readonly status: number | null
  readonly answer: string
  readonly tookMs: number
}

/** Webhook to the gateway: one copy of an event. */
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
