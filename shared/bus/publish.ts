import { headers, type NatsError } from 'nats'
import type { Bus } from '#shared/bus/open'
import { endOfTurn } from '#shared/bus/turn'
import { requestIdHeader } from '#shared/request-id'

export type Published = 'stored' | 'duplicate'

/**
 * JetStream's own number for "not stored". A taken subject and a full stream share it, as they share
 * the code 503 with "nobody listens" (measured): only the words tell that a message is already there.
 */
const notStored = 10077
const takenSubject = 'maximum messages per subject exceeded'

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
  await endOfTurn()
  try {
    const ack = await bus.js.publish(message.subject, JSON.stringify(message.payload), {
      msgID: message.id,
      headers: carried,
      timeout: 3_000,
    })
    return ack.duplicate ? 'duplicate' : 'stored'
  } catch (error) {
    const refusal = (error as NatsError).api_error
    if (refusal?.err_code === notStored && refusal.description === takenSubject) return 'duplicate'
    throw error
  }
}
