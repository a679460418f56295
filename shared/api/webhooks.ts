import { Type } from 'typebox'
import { route } from '#shared/api/route'

const Recorded = Type.Object(
  {
    status: Type.Enum(['recorded', 'duplicate'], {
      description: '`duplicate` for a repeated delivery.',
    }),
  },
  { title: 'Recorded', description: 'The delivery is stored permanently.' },
)

export const PostPaymentsWebhook = route({
  method: 'POST',
  path: '/webhooks/payments',
  access: 'delivery',
  tag: 'webhooks',
  summary: 'Receive a delivery of the payment provider',
  description:
    'Both provider accounts post here; the token identifies the account. Each delivery is ' +
    'recorded once; a repeated one gets `duplicate`. After a 503 the provider sends it again.',
  proof: 'callbackToken',
  body: Type.Object(
    {},
    {
      additionalProperties: true,
      title: 'PaymentDelivery',
      description: 'Payment Sessions, Payment Requests v3, Unified Refunds, Disputes or Payouts v2.',
    },
  ),
  answer: Recorded,
  returns: 'Recorded.',
  example: {
    body: { event: 'payment_session.completed', data: { payment_session_id: 'ps-1' } },
    answer: { status: 'recorded' },
  },
})

export const PostIdentityWebhook = route({
  method: 'POST',
  path: '/webhooks/identity',
  access: 'delivery',
  tag: 'webhooks',
  summary: 'Receive a delivery of the identity provider',
  description: 'Authentic deliveries of unknown kinds or about unknown users are recorded too.',
  proof: 'identitySignature',
  body: Type.Object(
    {},
    {
      additionalProperties: true,
      title: 'IdentityDelivery',
      description: 'An event of Sumsub or Persona, as the provider documents it.',
    },
  ),
  answer: Recorded,
  returns: 'Recorded.',
  example: {
    body: { type: 'applicantReviewed', reviewResult: { reviewAnswer: 'GREEN' } },
    answer: { status: 'recorded' },
  },
})
