import { Type } from 'typebox'
import { Timestamp } from '#shared/messages/fields'
import { webhook } from '#shared/messages/topic'
import type { ProviderAccount } from '#shared/money/pair'
import type { DeliveryReader } from '#shared/provider/delivery'

const delivery = {
  deliveryId: Type.String(),
  receivedAt: Timestamp,
  /** The fields that readers use, as JSON without personal data. */
  body: Type.String(),
}

/** A delivery with a valid token. It is only a hint, because the provider's API is authoritative. */
export const PaymentsWebhook = webhook(
  'webhooks.payments.>',
  Type.Object({ account: Type.Enum(['ID', 'MY']), ...delivery }),
)

/** A delivery with a valid signature. */
export const IdentityWebhook = webhook(
  'webhooks.identity.>',
  Type.Object({ provider: Type.Enum(['sumsub', 'persona']), ...delivery }),
)

/**
 * Returns the subject of one delivery, which names the service that reads it. The stream has at most one message per
 * subject, so it rejects a duplicate.
 */
export const paymentsWebhookSubject = (account: ProviderAccount | '*', reader: DeliveryReader, deliveryId: string) =>
  `webhooks.payments.${account}.${reader}.${deliveryId}`

/** Returns the subjects of a service's deliveries, and of those by a gateway of the version before, which names no reader. */
export const paymentsWebhooksOf = (reader: DeliveryReader): string[] => [
  paymentsWebhookSubject('*', reader, '*'),
  'webhooks.payments.*.*',
]

export const identityWebhookSubject = (provider: string, deliveryId: string) =>
  `webhooks.identity.${provider}.${deliveryId}`
