import { createHash, timingSafeEqual } from 'node:crypto'
import { failpoint } from '#platform/failpoint'
import { requestId } from '#platform/request-id'
import { PostIdentityWebhook, PostPaymentsWebhook } from '#shared/api/webhooks'
import { idFor } from '#shared/ids'
import { identityWebhookSubject, paymentsWebhookSubject } from '#shared/messages/webhooks'
import type { ProviderAccount } from '#shared/money/pair'
import { keptDelivery, readerOf } from '#shared/provider/delivery'
import type { Context } from '../context'
import { parseJson, readBytes } from '../http/body'
import { inTime } from '../http/deadline'
import { badRequest, Refused } from '../http/failure'
import { serve } from '../http/serve'
import type { Access } from '../sign-in/access'

const deliveryNameMax = 200

export const paymentsWebhookRoute = (context: Context, access: Access) => {
  const { clock, config } = context
  const accountOf = callbackAccounts({
    ID: config.paymentsCallbackTokensId,
    MY: config.paymentsCallbackTokensMy,
  })
  return serve(access, PostPaymentsWebhook, async ({ request }) => {
    const account = accountOf(request.headers.get('x-callback-token'))
    if (!account) throw new Refused(401, [{ code: 'callback_token' }])
    const { text } = objectText(await readBytes(request))
    const body = keptDelivery(text)
    const name = request.headers.get('webhook-id')?.slice(0, deliveryNameMax) || null
    const deliveryId = deliveryIdOf(account, name, { text, body })
    const receivedAt = new Date(clock()).toISOString()
    return recordDelivery(context, {
      subject: paymentsWebhookSubject(account, readerOf(body), deliveryId),
      id: deliveryId,
      payload: { account, deliveryId, receivedAt, body },
    })
  })
}

export const identityWebhookRoute = (context: Context, access: Access) => {
  const { clock, log, provider } = context
  return serve(access, PostIdentityWebhook, async ({ request }) => {
    const bytes = await readBytes(request)
    const verified = provider.verify(bytes, request.headers, clock())
    if ('reason' in verified) {
      log.warn({ reason: verified.reason }, 'identity webhook rejected')
      throw new Refused(401, [{ code: 'delivery_signature' }])
    }
    const { text } = objectText(bytes)
    const read = provider.parse(text)
    const body = provider.kept(text)
    const name = 'statement' in read ? read.statement.eventId : null
    const deliveryId = deliveryIdOf(provider.name, name, { text, body })
    const receivedAt = new Date(clock()).toISOString()
    return recordDelivery(context, {
      subject: identityWebhookSubject(provider.name, deliveryId),
      id: deliveryId,
      payload: { provider: provider.name, deliveryId, receivedAt, body },
    })
  })
}

/**
 * Returns the id of a delivery, a hash of the sender's id and the stored part of the body, so that an id
 * repeated for another event loses neither. Without an id it is a hash of the whole body. As subject and
 * message id it makes the stream reject a duplicate.
 */
function deliveryIdOf(source: string, name: string | null, { text, body }: { text: string; body: string }): string {
  const hash = createHash('sha256').update(name === null ? text : body)
  // guard: a webhook is stored once, under its sender's id
  return idFor('delivery', `${source}:${name ?? ''}:${hash.digest('hex')}`)
}

function objectText(bytes: Uint8Array): { text: string; value: Record<string, unknown> } {
  if (bytes.byteLength === 0) throw badRequest({ code: 'body_not_object' })
  const { text, value } = parseJson(bytes)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw badRequest({ code: 'body_not_object' })
  return { text, value: value as Record<string, unknown> }
}

/** Records a delivery. After a 503 the provider sends it again. */
async function recordDelivery(
  { publish, log }: Context,
  message: { subject: string; id: string; payload: unknown },
): Promise<{ status: 'recorded' | 'duplicate' }> {
  failpoint('gateway:delivery-verified')
  const publishing = publish({ ...message, requestId: requestId() ?? null })
  const published = await inTime(publishing, 'the stream').catch((error) => {
    log.error({ err: error, deliveryId: message.id }, 'webhook not recorded')
    // guard: a webhook that could not be stored is refused, so that it is sent again
    throw new Refused(503, [{ code: 'delivery_unrecorded' }], 5)
  })
  failpoint('gateway:delivery-recorded')
  const status = published === 'stored' ? 'recorded' : 'duplicate'
  log.info({ deliveryId: message.id, subject: message.subject, status }, 'webhook received')
  return { status }
}

type CallbackTokens = Readonly<Record<ProviderAccount, readonly string[]>>

const digest = (text: string) => createHash('sha256').update(text).digest()

/**
 * Returns a function that finds the account of a token. It compares all hashes, so that timing reveals
 * nothing. Throws if the accounts share a token.
 */
function callbackAccounts(tokens: CallbackTokens) {
  const known = (['ID', 'MY'] as const).flatMap((account) =>
    tokens[account].map((token) => ({ account, digest: digest(token) })),
  )
  const shared = tokens.ID.some((token) => tokens.MY.includes(token))
  // guard: a token belongs to one account
  if (shared) throw new Error('a callback token must belong to one account only')
  return (presented: string | null): ProviderAccount | undefined => {
    const given = digest(presented ?? '')
    // guard: a webhook has the token that we gave the provider
    const matches = known.filter((token) => timingSafeEqual(token.digest, given))
    return presented ? matches[0]?.account : undefined
  }
}
