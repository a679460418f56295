import type { Account } from './account'

/** What a payer is asked to pay on the hosted page. Times are ISO 8601 UTC with milliseconds. */
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
  /** Fields the sandbox only repeats: items, metadata, notification_channels and the like. */
  readonly echoed: Record<string, unknown>
  readonly attempts: number
  readonly requestId: string | null
  readonly paymentId: string | null
  readonly createdAt: string
  readonly updatedAt: string
  readonly expiresAt: string
}

/** One attempt to pay a session by one channel. */
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

/** Money that moved, or tried to. */
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
  readonly createdAt: string
  readonly updatedAt: string
}

/** Money on its way back to the payer. */
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
  /** Of a refund that was asked for with one: its key, the body, and how often it was repeated. */
  readonly asked?: { readonly key: string; readonly body: string; readonly replays: number }
  readonly createdAt: string
  readonly updatedAt: string
}

/** What the list of transactions calls how a row stands. */
export const transactionStatuses = ['PENDING', 'SUCCESS', 'FAILED', 'VOIDED', 'REVERSED'] as const
export type TransactionStatus = (typeof transactionStatuses)[number]

/** A payment the card network took back. Only the list of transactions ever tells of it. */
export type Chargeback = {
  readonly id: string
  readonly account: Account
  readonly requestId: string
  readonly paymentId: string
  /** The payment's own. */
  readonly referenceId: string
  readonly channelCode: string
  readonly amountMinor: bigint
  readonly status: TransactionStatus
  readonly createdAt: string
  readonly updatedAt: string
}

/** A bank transfer we were told to make. */
export type Payout = {
  readonly id: string
  /** Of the interface it was made through; absent: 2. */
  readonly version?: 3
  readonly account: Account
  readonly idempotencyKey: string
  /** The request body in canonical JSON: the same key with another text is refused. */
  readonly canonicalBody: string
  /** How often the same request was repeated. */
  readonly replays: number
  readonly referenceId: string
  readonly channelCode: string
  readonly accountNumber: string
  readonly accountHolderName: string
  readonly amountMinor: bigint
  /** The account held less when it was asked for: it will fail for that. */
  readonly unfunded?: true
  readonly echoed: Record<string, unknown>
  readonly status: 'ACCEPTED' | 'REQUESTED' | 'SUCCEEDED' | 'FAILED' | 'REVERSED' | 'CANCELLED'
  readonly failureCode: string | null
  readonly createdAt: string
  readonly updatedAt: string
}

/** What the owner of an account put in, above 0, or took out, in minor units. */
export type OwnMove = {
  readonly id: string
  readonly account: Account
  readonly amountMinor: bigint
  readonly createdAt: string
  readonly updatedAt: string
}

/** A wallet as an identity provider knows it. `id` is `<provider>:<wallet>`. */
export type Applicant = {
  readonly id: string
  readonly provider: IdentityProvider
  readonly wallet: string
  readonly providerRef: string
  readonly verdict: string | null
  /** What a look-up tells; null while nothing has happened, absent in books of earlier versions. */
  readonly standing?: Standing | null
  readonly updatedAt: string
}

/** The newest event about an applicant by the provider's own time, in this environment. */
export type Standing = {
  readonly verdict: string
  /** Verification level or inquiry template. */
  readonly level: string
  readonly at: string
}

/** The identity providers whose words the sandbox speaks. */
export type IdentityProvider = 'sumsub' | 'persona'

/** A hosted identity link; `id` is its opaque part. */
export type IdentityLink = {
  readonly id: string
  readonly provider: IdentityProvider
  readonly wallet: string
  readonly expiresAt: string
}

/** One try at handing a webhook over; `status` is null when nobody answered. */
export type WebhookAttempt = {
  readonly at: string
  readonly status: number | null
  readonly answer: string
  readonly tookMs: number
}

/** One copy of an event on its way to the gateway. */
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
