import { createHash, timingSafeEqual } from 'node:crypto'
import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { failpoint } from '#shared/failpoint'
import { idFor } from '#shared/ids'
import { identityWebhookSubject, paymentsWebhookSubject } from '#shared/messages/webhooks'
import type { ProviderAccount } from '#shared/money/pair'
import { requestId } from '#shared/request-id'
import type { Context } from '../context'
import { parseJson, readBytes } from '../http/body'
import { inTime } from '../http/deadline'
import { badRequest, Refused } from '../http/failure'
import { operation } from '../openapi/operation'
import type { Access } from '../sign-in/access'

/** The answer to a delivery. */
const Recorded = Type.Object(
  { status: Type.Enum(['recorded', 'duplicate'], { description: 'A replay is a duplicate.' }) },
  { title: 'Recorded', description: 'The delivery is kept, for good.' },
)
const deliveryNameMax = 200

/** `POST /webhooks/payments`: the token is checked before anything of the body is read. */
export const paymentsWebhookRoute = (context: Context, access: Access) => {
  const { clock, config } = context
  const accountOf = callbackAccounts({
    ID: config.paymentsCallbackTokensId,
    MY: config.paymentsCallbackTokensMy,
  })
  return new Elysia().use(access).post(
    '/webhooks/payments',
    async ({ request }) => {
      const account = accountOf(request.headers.get('x-callback-token'))
      if (!account) throw new Refused(401, 'x-callback-token is missing or not known')
      const { text: body } = objectText(await readBytes(request))
      const name = request.headers.get('webhook-id')?.slice(0, deliveryNameMax) || null
      const deliveryId = deliveryIdOf(account, name, body)
      const receivedAt = new Date(clock()).toISOString()
      return recordDelivery(context, {
        subject: paymentsWebhookSubject(account, deliveryId),
        id: deliveryId,
        payload: { account, deliveryId, receivedAt, body },
      })
    },
    {
      limited: 'delivery',
      ...operation({
        summary: 'A delivery of the payment provider',
        description:
          'Both provider accounts post here; the token says which. Each delivery is recorded ' +
          'once, a replay is answered with `duplicate`. 503 asks the provider to send it again.',
        tag: 'webhooks',
        security: 'callbackToken',
        body: {
          schema: Type.Object(
            {},
            {
              additionalProperties: true,
              title: 'PaymentDelivery',
              description: 'Payment Sessions, Payment Requests v3, Unified Refunds or Payouts v2.',
            },
          ),
          example: { event: 'payment_session.completed', data: { payment_session_id: 'ps-1' } },
        },
        ok: { description: 'Recorded.', schema: Recorded, example: { status: 'recorded' } },
        errors: [400, 401, 413, 429, 503],
      }),
    },
  )
}

/** `POST /webhooks/identity`: the signature covers the raw body, so that is what is checked. */
export const identityWebhookRoute = (context: Context, access: Access) => {
  const { clock, log, provider } = context
  return new Elysia().use(access).post(
    '/webhooks/identity',
    async ({ request }) => {
      const bytes = await readBytes(request)
      const verified = provider.verify(bytes, request.headers, clock())
      if ('reason' in verified) {
        log.warn({ reason: verified.reason }, 'identity delivery refused')
        throw new Refused(401, 'the signature of this delivery is missing or wrong')
      }
      const { text: body } = objectText(bytes)
      const read = provider.parse(body)
      const name = 'statement' in read ? read.statement.eventId : null
      const deliveryId = deliveryIdOf(provider.name, name, body)
      const receivedAt = new Date(clock()).toISOString()
      return recordDelivery(context, {
        subject: identityWebhookSubject(provider.name, deliveryId),
        id: deliveryId,
        payload: { provider: provider.name, deliveryId, receivedAt, body: provider.kept(body) },
      })
    },
    {
      limited: 'delivery',
      ...operation({
        summary: 'A delivery of the identity provider',
        description:
          'Authentic deliveries of unknown kinds and about unknown people are recorded too.',
        tag: 'webhooks',
        security: 'identitySignature',
        body: {
          schema: Type.Object(
            {},
            {
              additionalProperties: true,
              title: 'IdentityDelivery',
              description: 'An event of Sumsub or Persona, as the provider documents it.',
            },
          ),
          example: { type: 'applicantReviewed', reviewResult: { reviewAnswer: 'GREEN' } },
        },
        ok: { description: 'Recorded.', schema: Recorded, example: { status: 'recorded' } },
        errors: [400, 401, 413, 429, 503],
      }),
    },
  )
}

/**
 * One delivery, one id: the sender's own name for it where there is one, else what it says. The
 * same id is the stream's subject and message id, so that the stream itself refuses the second.
 */
const deliveryIdOf = (source: string, name: string | null, body: string): string =>
  idFor(
    'delivery',
    name ? `${source}:${name}` : `${source}:${createHash('sha256').update(body).digest('hex')}`,
  )

/** The text of an authentic body; 400 unless it is a JSON object. */
function objectText(bytes: Uint8Array): { text: string; value: Record<string, unknown> } {
  if (bytes.byteLength === 0) throw badRequest('the body must be a JSON object')
  const { text, value } = parseJson(bytes)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badRequest('the body must be a JSON object')
  return { text, value: value as Record<string, unknown> }
}

/** Records a delivery before it is answered; 503 makes the sender try again. */
async function recordDelivery(
  { publish, log }: Context,
  message: { subject: string; id: string; payload: unknown },
): Promise<{ status: 'recorded' | 'duplicate' }> {
  failpoint('gateway:delivery-verified')
  const publishing = publish({ ...message, requestId: requestId() ?? null })
  const published = await inTime(publishing, 'the stream').catch((error) => {
    log.error({ err: error, deliveryId: message.id }, 'delivery could not be recorded')
    throw new Refused(503, 'the delivery cannot be recorded right now, send it again', 5)
  })
  failpoint('gateway:delivery-recorded')
  const status = published === 'stored' ? 'recorded' : 'duplicate'
  log.info({ deliveryId: message.id, subject: message.subject, status }, 'delivery received')
  return { status }
}

/** Every accepted token, by account; two during a rotation. */
type CallbackTokens = Readonly<Record<ProviderAccount, readonly string[]>>

const digest = (text: string) => createHash('sha256').update(text).digest()

/**
 * Says which provider account a token belongs to. Both sides are hashed, so that they have one
 * length, and every known token is compared, so that the time tells nothing. Throws when one token
 * would stand for both accounts.
 */
function callbackAccounts(tokens: CallbackTokens) {
  const known = (['ID', 'MY'] as const).flatMap((account) =>
    tokens[account].map((token) => ({ account, digest: digest(token) })),
  )
  const shared = tokens.ID.some((token) => tokens.MY.includes(token))
  if (shared) throw new Error('a callback token must belong to one account only')
  return (presented: string | null): ProviderAccount | undefined => {
    const given = digest(presented ?? '')
    const matches = known.filter((token) => timingSafeEqual(token.digest, given))
    return presented ? matches[0]?.account : undefined
  }
}
