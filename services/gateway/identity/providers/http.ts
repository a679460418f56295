import { createHmac, timingSafeEqual } from 'node:crypto'
import { requestSeconds, timer } from '#platform/metrics/measures'
import { readBody } from '#shared/provider/answer'
import { ProviderDown } from '../provider'

const callDeadlineMs = 5_000

type Call = { method: 'GET' | 'POST'; headers: Record<string, string>; body?: string }

/** Sends a POST to the provider's API; throws `ProviderDown` unless the response is a JSON object. */
export async function postToProvider(
  url: string,
  headers: Record<string, string>,
  body: string,
): Promise<Record<string, unknown>> {
  const json = { 'Content-Type': 'application/json', ...headers }
  const { status, text } = await call(url, { method: 'POST', headers: json, body })
  if (status < 200 || status > 299) throw answered(status)
  return objectOf(text)
}

/**
 * Sends a GET. Returns a JSON object with status 200 or 404, and the caller interprets a 404; throws
 * `ProviderDown` for anything else, such as a proxy's error page.
 */
export async function getFromProvider(
  url: string,
  headers: Record<string, string>,
): Promise<{ status: 200 | 404; body: Record<string, unknown> }> {
  const { status, text } = await call(url, { method: 'GET', headers })
  if (status !== 200 && status !== 404) throw answered(status)
  return { status, body: objectOf(text) }
}

const calls = timer({
  what: 'identity_call_duration',
  help: 'Duration of a call to the identity provider, in seconds.',
  labels: { method: ['GET', 'POST'], outcome: ['answered', 'failed'] },
  buckets: requestSeconds,
})

async function call(url: string, { method, headers, body }: Call) {
  const startedMs = performance.now()
  try {
    const response = await fetch(url, {
      method,
      headers: { Accept: 'application/json', ...headers },
      ...(body === undefined ? {} : { body }),
      redirect: 'error',
      signal: AbortSignal.timeout(callDeadlineMs),
    })
    const text = await readBody(response, 'the identity provider')
    calls.since(startedMs, { method, outcome: 'answered' })
    return { status: response.status, text }
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

/** Parses JSON; returns undefined if the text is not valid. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns a non-empty string; null for everything else. */
export const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null

/** Returns a link that is safe to give to a user: https, or http on this machine. */
export function hostedLink(value: unknown): string {
  if (typeof value === 'string' && value.length <= 2_000 && URL.canParse(value)) {
    const { protocol, hostname } = new URL(value)
    const local = hostname === 'localhost' || hostname === '127.0.0.1'
    if (protocol === 'https:' || (protocol === 'http:' && local)) return value
  }
  throw new ProviderDown('the response of the identity provider has no link')
}

/** Returns true if `hex` is the HMAC of the parts under any of the secrets. Constant time. */
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
