import { Type } from 'typebox'
import { Timestamp } from '#shared/messages/fields'
import { webhook } from '#shared/messages/topic'
import type { ProviderAccount } from '#shared/money/pair'

const delivery = {
  deliveryId: Type.String(),
  receivedAt: Timestamp,
  /** The fields of the body that its readers use, as JSON, without personal data. */
  body: Type.String(),
}

/**
 * A delivery of the payment provider with a valid token. Only a hint: the provider's API is
 * authoritative.
 */
export const PaymentsWebhook = webhook(
  'webhooks.payments.>',
  Type.Object({ account: Type.Enum(['ID', 'MY']), ...delivery }),
)

/** A delivery of the identity provider with a valid signature. */
export const IdentityWebhook = webhook(
  'webhooks.identity.>',
  Type.Object({ provider: Type.Enum(['sumsub', 'persona']), ...delivery }),
)

/**
 * Returns the subject of a delivery. Each has its own, so that the stream rejects a duplicate (max
 * 1 per subject).
 */
export const paymentsWebhookSubject = (account: ProviderAccount, deliveryId: string) =>
  `webhooks.payments.${account}.${deliveryId}`

export const identityWebhookSubject = (provider: string, deliveryId: string) =>
  `webhooks.identity.${provider}.${deliveryId}`
