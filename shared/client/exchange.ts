import {
  type Answered,
  isPassing,
  type Refusal,
  Refused,
  refusalOf,
  Unanswered,
} from '#shared/client/refusal'
import { pause } from '#shared/deadline'

/** One request as it goes out: the same bytes at every try. */
export type Sent = {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export type Place = {
  readonly baseUrl: string
  /** Instead of the runtime's own. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** No try begins later than this after the first; 30 s unless given. */
  readonly patienceMs?: number
}

/** The service takes no longer for anything: it answers 503 before. */
const tryDeadlineMs = 15_000
const patienceDefaultMs = 30_000
const pauseFirstMs = 250
const pauseMaxMs = 4_000

/** What came of one try: an answer, or nothing that can be read. */
export type Tried =
  | { readonly status: number; readonly headers: Headers; readonly body: unknown }
  | { readonly fault: unknown }

/** One try, without a second. */
export async function tryOnce({ baseUrl, fetch: own }: Place, sent: Sent): Promise<Tried> {
  const { method, path, headers, body } = sent
  const ask = own ?? fetch
  try {
    const answer = await ask(`${baseUrl.replace(/\/$/, '')}${path}`, {
      method,
      headers: {
        ...headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.timeout(tryDeadlineMs),
    })
    return { status: answer.status, headers: answer.headers, body: await answer.json() }
  } catch (fault) {
    return { fault }
  }
}

/** What follows from a try: its answer, a no that may pass, or an outcome that nobody knows. */
type Verdict<T> =
  | Answered<T>
  | { readonly again: Refusal; readonly afterMs: number }
  | { readonly unknown: unknown; readonly afterMs: number }

/** Decides about a try; `turn` counts from 0. */
export function verdictOn<T>(tried: Tried, turn: number): Verdict<T> {
  const restMs = Math.min(pauseFirstMs * 2 ** turn, pauseMaxMs)
  if ('fault' in tried) return { unknown: tried.fault, afterMs: restMs }
  const { status, headers, body } = tried
  if (status === 200) return { ok: body as T }
  const refused = refusalOf(status, headers, body)
  if (!refused)
    return { unknown: new Error(`answered ${status}, by whom is unclear`), afterMs: restMs }
  const afterMs = Math.max(refused.retryAfterMs ?? 0, restMs)
  // It may have been done all the same: a time-out is answered in these words too.
  if (refused.code === 'unavailable' || refused.code === 'internal')
    return { unknown: new Refused(refused), afterMs }
  return isPassing(refused) ? { again: refused, afterMs } : { refused }
}

/**
 * Asks until there is an answer that will stay. Every request of this interface may be sent again as
 * it was, because its owner knows it again: a top-up, a settlement and a cash-out by their quote, a
 * send by the nonce of its authorization; all others change nothing, or come to the same when they are
 * done twice. Another body would be another request: what is sent again are the same bytes.
 */
export async function exchange<T>(place: Place, sent: Sent): Promise<Answered<T>> {
  const givesUpAt = Date.now() + (place.patienceMs ?? patienceDefaultMs)
  let unclear: { cause: unknown } | undefined
  for (let turn = 0; ; turn++) {
    const verdict = verdictOn<T>(await tryOnce(place, sent), turn)
    if ('ok' in verdict || 'refused' in verdict) return verdict
    if ('unknown' in verdict) unclear = { cause: verdict.unknown }
    if (Date.now() + verdict.afterMs > givesUpAt) {
      // A no for this moment says nothing about an earlier try that nobody answered.
      if (unclear || 'unknown' in verdict)
        throw new Unanswered(`${sent.method} ${sent.path}`, turn + 1, unclear?.cause)
      return { refused: verdict.again }
    }
    // Spread out, so that those who were refused together do not come back together.
    await pause(verdict.afterMs * (1 + Math.random() / 4))
  }
}
