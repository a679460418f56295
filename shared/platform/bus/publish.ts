import { headers, type NatsError } from 'nats'
import type { Bus } from '#platform/bus/open'
import { endOfTurn } from '#platform/bus/queue'
import { quickSeconds, timer } from '#platform/metrics/measures'
import { requestIdHeader, withRequestId } from '#platform/request-id'
import { carriedTrace, inSpan, traceHeader } from '#platform/tracing/spans'

export type Published = 'stored' | 'duplicate'

/** Error code both of a taken subject and of a full stream, which only the description distinguishes (measured). */
const notStored = 10077
const takenSubject = 'maximum messages per subject exceeded'

/**
 * Publishes a message. `duplicate` means that its id or its subject already exists. Throws if the message was refused
 * or may be stored; resending it under the same id is always safe.
 */
export function publish(bus: Bus, message: Outgoing): Promise<Published> {
  const words = { kind: 'producer', attributes: { 'messaging.message.id': message.id } } as const
  return withRequestId(message.requestId ?? undefined, () =>
    inSpan(`publish ${familyOf(message.subject)}`, words, () => publishNow(bus, message)),
  )
}

type Outgoing = { subject: string; id: string; payload: unknown; requestId?: string | null }

/** Returns the first parts of a subject, because later ones may name a single delivery. */
const familyOf = (subject: string): string => subject.split('.', 3).join('.')

async function publishNow(bus: Bus, message: Outgoing): Promise<Published> {
  const carried = headers()
  if (message.requestId) carried.set(requestIdHeader, message.requestId)
  const trace = carriedTrace()
  if (trace) carried.set(traceHeader, trace)
  const startedMs = performance.now()
  const tell = (outcome: Published | 'failed') => publications.since(startedMs, { outcome })
  await endOfTurn()
  try {
    const ack = await bus.js.publish(message.subject, JSON.stringify(message.payload), {
      // guard: a message is identified by an id derived from its cause
      msgID: message.id,
      headers: carried,
      timeout: 3_000,
    })
    const published = ack.duplicate ? 'duplicate' : 'stored'
    tell(published)
    return published
  } catch (error) {
    const refusal = (error as NatsError).api_error
    const isThere = refusal?.err_code === notStored && refusal.description === takenSubject
    tell(isThere ? 'duplicate' : 'failed')
    if (isThere) return 'duplicate'
    throw error
  }
}

const publications = timer({
  what: 'publish_duration',
  help: 'Duration of a JetStream publish, by outcome, in seconds.',
  labels: { outcome: ['stored', 'duplicate', 'failed'] },
  buckets: quickSeconds,
})
