import { Type } from 'typebox'
import { Timestamp } from '#shared/messages/fields'
import type { Topic } from '#shared/messages/topic'
import type { ProviderAccount } from '#shared/money/pair'

const delivery = {
  deliveryId: Type.String(),
  receivedAt: Timestamp,
  /** The raw body as it arrived, at most 64 KiB. */
  body: Type.String(),
}

/** A delivery of the payment provider whose token was right. A hint: the provider's API is the fact. */
export const PaymentsWebhook = {
  subject: 'webhooks.payments.>',
  schema: Type.Object({ account: Type.Enum(['ID', 'MY']), ...delivery }),
  stream: 'WEBHOOKS',
  publishers: ['gateway'],
} as const satisfies Topic

/** A delivery of the identity provider whose signature was right. */
export const IdentityWebhook = {
  subject: 'webhooks.identity.>',
  schema: Type.Object({ provider: Type.Enum(['sumsub', 'persona']), ...delivery }),
  stream: 'WEBHOOKS',
  publishers: ['gateway'],
} as const satisfies Topic

/** One subject per delivery, so that the stream itself refuses the second (max 1 per subject). */
export const paymentsWebhookSubject = (account: ProviderAccount, deliveryId: string) =>
  `webhooks.payments.${account}.${deliveryId}`

export const identityWebhookSubject = (provider: string, deliveryId: string) =>
  `webhooks.identity.${provider}.${deliveryId}`
