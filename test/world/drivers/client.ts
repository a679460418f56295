import type { Person } from '#infra/demo/person'
import { pause } from '#platform/deadline'
import type { Record } from '../record'

/** Longest wait for a response in ms, about as long as a user waits. */
export const usualPatienceMs = 45_000
const betweenMs = 300

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field, as an app reads them
export type Answered = { ok: any } | { refused: string }

/** Sends a request. Returns null after the last retry: the outcome is unknown, and the audit allows either. */
export async function ask(
  record: Record,
  person: Person,
  path: string,
  body?: unknown,
  patienceMs = usualPatienceMs,
): Promise<Answered | null> {
  const givesUpAt = performance.now() + patienceMs
  while (performance.now() < givesUpAt) {
    const reply = await (body === undefined ? person.get(path) : person.post(path, body)).catch(() => undefined)
    if (reply?.status === 200) {
      record.count('200')
      return { ok: reply.body }
    }
    const word = reply?.headers.get('x-error-code') ?? 'no answer'
    record.count(word)
    if (reply) record.errors.add(JSON.stringify(reply.body))
    if (reply && reply.status < 500 && reply.status !== 429) return { refused: word }
    await pause(betweenMs)
  }
  return null
}
