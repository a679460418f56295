import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { identityWebhookSubject } from '#shared/messages/webhooks'
import { readBytes } from '../http/body.ts'
import { Refused } from '../http/refused.ts'
import { operation } from '../openapi/operation.ts'
import type { RouteParts } from '../parts.ts'
import { deliveryIdOf, objectText, recordDelivery } from '../webhooks/delivery.ts'
import { Recorded } from './payments-webhook.ts'

/** `POST /webhooks/identity`: the signature covers the raw body, so that is what is checked. */
export const identityWebhookRoute = (parts: RouteParts) => {
  const { provider } = parts.identity
  return new Elysia().post(
    '/webhooks/identity',
    parts.door.delivery(async ({ request }) => {
      const bytes = await readBytes(request)
      const verified = provider.verify(bytes, request.headers, parts.clock())
      if ('reason' in verified) {
        parts.log.warn({ reason: verified.reason }, 'identity delivery refused')
        throw new Refused(401, 'the signature of this delivery is missing or wrong')
      }
      const { text: body } = objectText(bytes)
      const read = provider.parse(body)
      const name = 'statement' in read ? read.statement.eventId : null
      const deliveryId = deliveryIdOf(provider.name, name, body)
      const receivedAt = new Date(parts.clock()).toISOString()
      return recordDelivery(parts, {
        subject: identityWebhookSubject(provider.name, deliveryId),
        id: deliveryId,
        payload: { provider: provider.name, deliveryId, receivedAt, body: provider.kept(body) },
      })
    }),
    operation({
      summary: 'A delivery of the identity provider',
      description:
        'Authentic deliveries of unknown kinds and about unknown people are recorded too.',
      tag: 'webhooks',
      security: 'identitySignature',
      body: {
        schema: Type.Object({}, { additionalProperties: true }),
        example: { type: 'applicantReviewed', reviewResult: { reviewAnswer: 'GREEN' } },
      },
      ok: { description: 'Recorded.', schema: Recorded, example: { status: 'recorded' } },
      errors: [400, 401, 413, 429, 503],
    }),
  )
}
