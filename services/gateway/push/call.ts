import type { Clock } from '#platform/clock'
import { webhookIdOf } from '#shared/messages/events'
import { bodyOf, type StoredEvent } from './event'
import { signedHeaders } from './signed-headers'

/** Deadline of a call, from the connection to the status, in ms. It is half of the consumer's ack_wait. */
export const callDeadlineMs = 10_000

/** The integrator's endpoint. `keys` sign each call with the time of `clock`. */
export type Endpoint = { readonly url: string; readonly keys: readonly Buffer[]; readonly clock: Clock }

/** Result of a call: taken, or why not, in words without secrets. */
export type Called = { readonly taken: true } | { readonly taken: false; readonly why: string }

type CallOptions = { readonly deadlineMs?: number; readonly stop?: AbortSignal }

/** Sends an event once. Never throws, unless the payload is no JSON. */
export async function call(
  { url, keys, clock }: Endpoint,
  event: StoredEvent,
  { deadlineMs = callDeadlineMs, stop }: CallOptions = {},
): Promise<Called> {
  const body = bodyOf(event)
  const deadline = AbortSignal.timeout(deadlineMs)
  const atSeconds = Math.floor(clock() / 1_000)
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...signedHeaders(keys, { id: webhookIdOf(event), atSeconds, body }), 'user-agent': 'ausd-events/1' },
      body,
      // A redirect would send signed data to an address that nobody configured.
      redirect: 'manual',
      // A call on a connection that the endpoint closes just now would fail.
      keepalive: false,
      signal: stop ? AbortSignal.any([deadline, stop]) : deadline,
    })
    // The status is the whole answer: a body may never end.
    await response.body?.cancel().catch(() => {})
    return response.ok ? { taken: true } : { taken: false, why: `answered ${response.status}` }
  } catch (error) {
    if (stop?.aborted) return { taken: false, why: 'gateway is stopping' }
    if (deadline.aborted) return { taken: false, why: `no answer within ${deadlineMs / 1_000} s` }
    return { taken: false, why: reasonOf(error) }
  }
}

/** Returns the code of a failed connection, because the message may quote the URL. */
const reasonOf = (error: unknown): string => {
  const { code, name } = error as { code?: unknown; name?: string }
  return typeof code === 'string' ? code : (name ?? 'failed')
}
