import { backoffMs } from '#platform/backoff'
import { pause } from '#platform/deadline'
import {
  type Answered,
  type ClientRefusal,
  isPassing,
  Refused,
  refusalOf,
  serverMsOf,
  Unanswered,
} from '#shared/client/refusal'
import { learnServiceTime } from '#shared/client/service-time'
import type { Language } from '#shared/language/language'

/** A request, whose bytes are the same on every attempt. */
export type SentCall = {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** True if a successful response is text, not JSON. */
  readonly isText?: boolean
}

export type ClientTarget = {
  readonly baseUrl: string
  /** Language of `message` and every `sentence`. The default is English. */
  readonly language?: Language
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** How long new attempts may start, in ms. The default is 30 s. */
  readonly patienceMs?: number
}

/** Longest wait for the beginning of a response, in ms. The service responds with 503 before that. */
const tryDeadlineMs = 15_000
/** Longest wait for the rest of a response, in ms. The service sends a large one, such as an export, for as long. */
const bodyDeadlineMs = 120_000
const patienceDefaultMs = 30_000
const pauseFirstMs = 250
const pauseMaxMs = 4_000

export type Tried =
  | { readonly status: number; readonly headers: Headers; readonly body: unknown }
  | { readonly fault: unknown }

export async function tryOnce({ baseUrl, language, fetch: own }: ClientTarget, sent: SentCall): Promise<Tried> {
  const { method, path, headers, body } = sent
  const ask = own ?? fetch
  // React Native has no AbortSignal.timeout.
  const controller = new AbortController()
  const abortAfter = (ms: number) => setTimeout(() => controller.abort(), ms)
  let timer = abortAfter(tryDeadlineMs)
  try {
    const answer = await ask(`${baseUrl.replace(/\/$/, '')}${path}`, {
      method,
      headers: {
        ...headers,
        ...(language ? { 'accept-language': language } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body }),
      signal: controller.signal,
    })
    clearTimeout(timer)
    timer = abortAfter(bodyDeadlineMs)
    // A cache may answer a public request, with a date of its own.
    const isCached = /\bpublic\b/.test(answer.headers.get('cache-control') ?? '')
    if (!isCached && (method !== 'GET' || headers.authorization !== undefined))
      learnServiceTime(serverMsOf(answer.headers))
    const isText = sent.isText === true && answer.status === 200
    return {
      status: answer.status,
      headers: answer.headers,
      body: await (isText ? answer.text() : answer.json()),
    }
  } catch (fault) {
    return { fault }
  } finally {
    clearTimeout(timer)
  }
}

type CallVerdict<T> =
  | Answered<T>
  | { readonly again: ClientRefusal; readonly afterMs: number }
  | { readonly unknown: unknown; readonly afterMs: number }

/** Decides what follows an attempt; `turn` counts from 0. */
export function verdictOn<T>(tried: Tried, turn: number): CallVerdict<T> {
  const restMs = backoffMs({ firstMs: pauseFirstMs, maxMs: pauseMaxMs }, turn)
  if ('fault' in tried) return { unknown: tried.fault, afterMs: restMs }
  const { status, headers, body } = tried
  if (status === 200) return { ok: body as T }
  const refused = refusalOf(status, headers, body)
  if (!refused)
    return {
      unknown: new Error(`unexpected response ${status}, not from the service`),
      afterMs: restMs,
    }
  const afterMs = Math.max(refused.retryAfterMs ?? 0, restMs)
  // The request may have been processed, because timeouts use these codes too.
  if (refused.code === 'unavailable' || refused.code === 'internal') return { unknown: new Refused(refused), afterMs }
  return isPassing(refused) ? { again: refused, afterMs } : { refused }
}

/**
 * Sends a request until it has an outcome. Repeating the same bytes is safe: the owner recognises a top-up, settlement
 * or cash-out by its quote and a send by its nonce, and all other requests are idempotent.
 */
export async function exchange<T>(place: ClientTarget, sent: SentCall): Promise<Answered<T>> {
  const givesUpAt = performance.now() + (place.patienceMs ?? patienceDefaultMs)
  let unclear: { cause: unknown } | undefined
  for (let turn = 0; ; turn++) {
    const verdict = verdictOn<T>(await tryOnce(place, sent), turn)
    if ('unknown' in verdict) unclear = { cause: verdict.unknown }
    const lost = () => new Unanswered(`${sent.method} ${sent.path}`, turn + 1, unclear?.cause)
    // An earlier attempt without a response stays unclear after a temporary refusal or an expired session.
    if ('refused' in verdict && verdict.refused.code === 'sign_in_again' && unclear) throw lost()
    if ('ok' in verdict || 'refused' in verdict) return verdict
    if (performance.now() + verdict.afterMs > givesUpAt) {
      if ('unknown' in verdict || unclear) throw lost()
      return { refused: verdict.again }
    }
    // The jitter keeps clients that were refused at the same time from returning at the same time.
    await pause(verdict.afterMs * (1 + Math.random() / 4))
  }
}
