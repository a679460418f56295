import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock } from '#platform/clock'
import { requestSeconds, timer } from '#platform/metrics/measures'
import { readAnswer } from '#shared/provider/answer'
import { openProviderClock } from '#shared/provider/clock'
import { ProviderDown } from '../provider'

const callDeadlineMs = 5_000

type Call = { method: 'GET' | 'POST'; url: string; body: string }

/** Calls to a provider. Each throws `ProviderDown` without a clear response. */
type IdentityApi = {
  /** Sends JSON, and returns the JSON object of a 2xx. */
  readonly post: (path: string, body: string) => Promise<Record<string, unknown>>
  /** Returns the JSON object of a 200 or 404. */
  readonly get: (path: string) => Promise<{ status: 200 | 404; body: Record<string, unknown> }>
  /** Returns the time by the provider's clock, in unix ms. */
  readonly now: () => number
}

/**
 * Opens the API of a provider. `headersAt` signs at a time of the provider's clock. A refused request is
 * repeated if that clock turns out to differ, because the signature was then too old or too new.
 */
export function openIdentityApi(
  apiUrl: string,
  clock: Clock,
  headersAt: (nowMs: number, method: Call['method'], path: string, body: string) => RequestHeaders,
): IdentityApi {
  const theirs = openProviderClock(clock)
  const send = async (method: Call['method'], path: string, body: string) => {
    const once = () => call({ method, url: `${apiUrl}${path}`, body }, headersAt(theirs.now(), method, path, body))
    const first = await once()
    const isRefused = first.status >= 400 && first.status < 500
    return theirs.read(first.headers) && isRefused ? once() : first
  }
  return {
    post: async (path, body) => {
      const { status, text } = await send('POST', path, body)
      if (status < 200 || status > 299) throw answered(status)
      return objectOf(text)
    },
    get: async (path) => {
      const { status, text } = await send('GET', path, '')
      if (status !== 200 && status !== 404) throw answered(status)
      return { status, body: objectOf(text) }
    },
    now: theirs.now,
  }
}

type RequestHeaders = Readonly<Record<string, string>>

const calls = timer({
  what: 'identity_call_duration',
  help: 'Duration of a call to the identity provider, in seconds.',
  labels: { method: ['GET', 'POST'], outcome: ['answered', 'failed'] },
  buckets: requestSeconds,
})

const json = { 'Content-Type': 'application/json' }

async function call({ method, url, body }: Call, headers: RequestHeaders) {
  const startedMs = performance.now()
  try {
    const response = await fetch(url, {
      method,
      headers: { Accept: 'application/json', ...(body && json), ...headers },
      ...(body && { body }),
      redirect: 'error',
      signal: AbortSignal.timeout(callDeadlineMs),
    })
    const text = await readAnswer(response, 'the identity provider')
    calls.since(startedMs, { method, outcome: 'answered' })
    return { status: response.status, text, headers: response.headers }
  } catch (error) {
    calls.since(startedMs, { method, outcome: 'failed' })
    throw new ProviderDown('no response from the identity provider', { cause: error })
  }
}

const answered = (status: number) => new ProviderDown(`the identity provider returned ${status}`)

function objectOf(text: string): Record<string, unknown> {
  const value = jsonOf(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ProviderDown('the response of the identity provider is not a JSON object')
  return value as Record<string, unknown>
}

export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns a non-empty string, or null. */
export const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** Returns the link for a user. Only https is allowed, or http on this machine. */
export function hostedLink(value: unknown): string {
  if (typeof value === 'string' && value.length <= 2_000 && URL.canParse(value)) {
    const { protocol, hostname } = new URL(value)
    const local = hostname === 'localhost' || hostname === '127.0.0.1'
    if (protocol === 'https:' || (protocol === 'http:' && local)) return value
  }
  throw new ProviderDown('the response of the identity provider has no link')
}

/** Returns true if one of the secrets made the signature. Compares in constant time. */
export function signedByAny(
  secrets: readonly string[],
  algorithm: 'sha256' | 'sha512',
  parts: readonly (string | Uint8Array)[],
  hex: string,
): boolean {
  const given = Buffer.from(/^[0-9a-f]+$/i.test(hex) ? hex : '', 'hex')
  const matches = secrets.filter((secret) => {
    const mac = createHmac(algorithm, secret)
    for (const part of parts) mac.update(part)
    const wanted = mac.digest()
    return wanted.length === given.length && timingSafeEqual(wanted, given)
  })
  return matches.length > 0
}
