import { headers, type NatsError } from 'nats'
import type { Bus } from '#shared/bus/open'
import { requestIdHeader } from '#shared/request-id'

export type Published = 'stored' | 'duplicate'

/**
 * JetStream's own error numbers. In nats 2.x a taken subject and a full disk share the code 503
 * with "nobody listens" (measured); only `err_code` tells them apart.
 */
const takenSubject = 10077

/**
 * Publishes and awaits the confirmation. `duplicate` when the id or the subject was seen before.
 * Throws when the outcome is unknown or refused; sending again under the same id is always safe.
 */
export async function publish(
  bus: Bus,
  message: { subject: string; id: string; payload: unknown; requestId?: string | null },
): Promise<Published> {
  const carried = headers()
  if (message.requestId) carried.set(requestIdHeader, message.requestId)
  try {
    const ack = await bus.js.publish(message.subject, JSON.stringify(message.payload), {
      msgID: message.id,
      headers: carried,
      timeout: 3_000,
    })
    return ack.duplicate ? 'duplicate' : 'stored'
  } catch (error) {
    if ((error as NatsError).api_error?.err_code === takenSubject) return 'duplicate'
    throw error
  }
}
