import { createHash } from 'node:crypto'
import type { Published } from '#shared/bus/publish'
import { failpoint } from '#shared/failpoint'
import { idFor } from '#shared/ids'
import type { Log } from '#shared/log'
import { requestId } from '#shared/request-id'
import { parseJson } from '../http/body.ts'
import { badRequest, Refused } from '../http/refused.ts'

/** Publishes to JetStream and awaits its confirmation; throws when that does not come. */
export type Publish = (message: {
  subject: string
  id: string
  payload: unknown
  requestId?: string | null
}) => Promise<Published>

/**
 * One delivery, one id: the sender's own name for it where there is one, else what it says. The
 * same id is the stream's subject and message id, so that the stream itself refuses the second.
 */
export const deliveryIdOf = (source: string, name: string | null, body: string): string =>
  idFor(
    'delivery',
    name ? `${source}:${name}` : `${source}:${createHash('sha256').update(body).digest('hex')}`,
  )

/** The text of an authentic body; 400 unless it is a JSON object. */
export function objectText(bytes: Uint8Array): { text: string; value: Record<string, unknown> } {
  if (bytes.byteLength === 0) throw badRequest('the body must be a JSON object')
  const { text, value } = parseJson(bytes)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badRequest('the body must be a JSON object')
  return { text, value: value as Record<string, unknown> }
}

/** Records a delivery before it is answered; 503 makes the sender try again. */
export async function recordDelivery(
  parts: { publish: Publish; log: Log },
  message: { subject: string; id: string; payload: unknown },
): Promise<{ status: 'recorded' | 'duplicate' }> {
  failpoint('gateway:delivery-verified')
  const published = await parts
    .publish({ ...message, requestId: requestId() ?? null })
    .catch((error) => {
      parts.log.error({ err: error, deliveryId: message.id }, 'delivery could not be recorded')
      throw new Refused(503, 'the delivery cannot be recorded right now, send it again', 5)
    })
  failpoint('gateway:delivery-recorded')
  const status = published === 'stored' ? 'recorded' : 'duplicate'
  parts.log.info({ deliveryId: message.id, subject: message.subject, status }, 'delivery received')
  return { status }
}
