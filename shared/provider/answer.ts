import { meaningOf, type ProviderRefusal, ProviderUnknown } from '#shared/provider/problem'

const bytesMax = 1_048_576

/** Reads the body of a response. Throws `ProviderUnknown` beyond the size limit. */
export async function readAnswer(
  response: { readonly body: AsyncIterable<Uint8Array> | null },
  endpoint: string,
): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) throw new ProviderUnknown(`${endpoint} returned more than 1 MiB`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** A reviver with the source text, which TypeScript's types lack. */
type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown
const parse = JSON.parse as (text: string, reviver: Reviver) => unknown

/** Parses JSON and keeps the source text of numbers. Returns undefined for invalid JSON. */
export function parseExact(text: string): unknown {
  try {
    return parse(text, (_, value, { source }) =>
      typeof value === 'number' ? { decimal: source ?? String(value) } : value,
    )
  } catch {
    return undefined
  }
}

/**
 * Reads the refusal in a 4xx response. An object without a code is still the provider's; anything else comes from an
 * intermediary.
 */
export function refusalFrom(status: number, body: unknown): ProviderRefusal | undefined {
  if (typeof body !== 'object' || body === null) return undefined
  if (Array.isArray(body)) return undefined
  const { error_code, message, error_message } = body as Record<string, unknown>
  const code = typeof error_code === 'string' ? error_code.slice(0, 80) : `HTTP_${status}`
  const text = message ?? error_message
  return {
    status,
    code,
    meaning: meaningOf(code, status),
    message: typeof text === 'string' ? text.slice(0, 500) : '',
  }
}

const waitMaxMs = 120_000

/** Delay in ms after a 429 with calls left, which has been seen live and is over in about this time. */
const strayMs = 1_000

/**
 * Returns the delay that a 429 asks for, in ms: the longer of `Retry-After` (seconds, or a date by RFC 9110) and
 * `Rate-Limit-Reset` (seconds, possibly fractional). The latter counts only if no calls are left.
 */
export function retryAfterMs(headers: Headers, nowMs: number): number {
  const retryAfter = headers.get('Retry-After')
  const named = [
    secondsMs(retryAfter) ?? untilMs(retryAfter, nowMs),
    hasCallsLeft(headers) ? undefined : secondsMs(headers.get('Rate-Limit-Reset')),
  ].filter((ms) => ms !== undefined)
  return named.length === 0 ? strayMs : Math.min(Math.max(...named), waitMaxMs)
}

const hasCallsLeft = (headers: Headers): boolean => Number(headers.get('Rate-Limit-Remaining') ?? '0') > 0

export const exhaustedForMs = (headers: Headers): number =>
  headers.get('Rate-Limit-Remaining') === '0' ? Math.min(secondsMs(headers.get('Rate-Limit-Reset')) ?? 0, waitMaxMs) : 0

const secondsMs = (text: string | null): number | undefined =>
  text !== null && /^[0-9]{1,9}(\.[0-9]{1,9})?$/.test(text) ? Math.ceil(Number(text) * 1_000) : undefined

function untilMs(text: string | null, nowMs: number): number | undefined {
  const at = text === null ? Number.NaN : Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs)
}

/** Returns the endpoint of a path, because limits apply per endpoint: `/v3/payments/py-…?x=y` is `/v3/payments/:id`. */
export const endpointOf = (method: string, path: string): string => {
  const [bare = ''] = path.split('?')
  return `${method} ${bare.replace(/\/[a-z]{1,8}-[^/]*/g, '/:id')}`
}
