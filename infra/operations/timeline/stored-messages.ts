import { type JetStreamManager, NatsError, type StoredMsg } from 'nats'

type Place = { seq: number; next_by_subj?: string } | { last_by_subj: string }

/** Returns a message of a stream. Undefined if there is none. */
export async function messageAt(
  manager: JetStreamManager,
  stream: string,
  place: Place,
): Promise<StoredMsg | undefined> {
  try {
    return await manager.streams.getMessage(stream, place as { seq: number })
  } catch (error) {
    if (error instanceof NatsError && error.api_error?.code === 404) return undefined
    throw error
  }
}

/** Returns the sequence from which messages are not older than a time. */
export async function firstSince(manager: JetStreamManager, stream: string, since: Date): Promise<number> {
  const { state } = await manager.streams.info(stream)
  let [low, high] = [state.first_seq, state.last_seq + 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    // Heartbeats that have expired leave gaps in the sequence.
    const message = await messageAt(manager, stream, { seq: middle, next_by_subj: '>' })
    if (message && message.time < since) low = message.seq + 1
    else high = middle
  }
  return low
}
