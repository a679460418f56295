import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { paymentsWebhookSubject } from '#shared/messages/webhooks'
import { readBytes } from '../http/body.ts'
import { Refused } from '../http/refused.ts'
import { operation } from '../openapi/operation.ts'
import type { RouteParts } from '../parts.ts'
import { callbackAccounts } from '../webhooks/callback-token.ts'
import { deliveryIdOf, objectText, recordDelivery } from '../webhooks/delivery.ts'

/** The answer to a delivery. */
export const Recorded = Type.Object({ status: Type.Enum(['recorded', 'duplicate']) })
const deliveryNameMax = 200

/** `POST /webhooks/payments`: the token is checked before anything of the body is read. */
export const paymentsWebhookRoute = (parts: RouteParts) => {
  const accountOf = callbackAccounts(parts.settings.callbackTokens)
  return new Elysia().post(
    '/webhooks/payments',
    parts.door.delivery(async ({ request }) => {
      const account = accountOf(request.headers.get('x-callback-token'))
      if (!account) throw new Refused(401, 'x-callback-token is missing or not known')
      const { text: body } = objectText(await readBytes(request))
      const name = request.headers.get('webhook-id')?.slice(0, deliveryNameMax) || null
      const deliveryId = deliveryIdOf(account, name, body)
      const receivedAt = new Date(parts.clock()).toISOString()
      return recordDelivery(parts, {
        subject: paymentsWebhookSubject(account, deliveryId),
        id: deliveryId,
        payload: { account, deliveryId, receivedAt, body },
      })
    }),
    operation({
      summary: 'A delivery of the payment provider',
      description:
        'Both provider accounts post here; the token says which. Each delivery is recorded ' +
        'once, a replay is answered with `duplicate`. 503 asks the provider to send it again.',
      tag: 'webhooks',
      security: 'callbackToken',
      body: {
        schema: Type.Object({}, { additionalProperties: true }),
        example: { event: 'payment_session.completed', data: { payment_session_id: 'ps-1' } },
      },
      ok: { description: 'Recorded.', schema: Recorded, example: { status: 'recorded' } },
      errors: [400, 401, 413, 429, 503],
    }),
  )
}
