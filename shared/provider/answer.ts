import { meaningOf, type ProviderRefusal, ProviderUnknown } from '#shared/provider/problem'

/** Far more than any answer we ask for. */
const bytesMax = 1_048_576

/** Reads a body up to the cap. Throws `ProviderUnknown` beyond it. */
export async function readBody(response: Response, endpoint: string): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) throw new ProviderUnknown(`${endpoint} answered more than 1 MiB`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** TypeScript does not know yet that a reviver is told the source text of a primitive. */
type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown
const parse = JSON.parse as (text: string, reviver: Reviver) => unknown

/** JSON whose numbers keep the text they were written with. Undefined when it is no JSON. */
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
 * The error body of a 4xx, whose text is `message` on the wire and `error_message` in some docs. A body
 * that names no code is a refusal all the same; what is no JSON object comes from something in between.
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

/** No header makes us wait longer than this. */
const waitMaxMs = 120_000

/** A 429 with calls left is a stray one: seen live, and over in about this time. */
const strayMs = 1_000

/**
 * How long a 429 asks us to wait: the longer of `Retry-After` (seconds, or a date by RFC 9110) and
 * `Rate-Limit-Reset` (seconds, may be a fraction). The reset counts only when nothing is left of the
 * budget: while calls are left, it says when the window ends and not when we may call. About a second
 * when neither counts.
 */
export function retryAfterMs(headers: Headers, nowMs: number): number {
  const retryAfter = headers.get('Retry-After')
  const named = [
    secondsMs(retryAfter) ?? untilMs(retryAfter, nowMs),
    hasCallsLeft(headers) ? undefined : secondsMs(headers.get('Rate-Limit-Reset')),
  ].filter((ms) => ms !== undefined)
  return named.length === 0 ? strayMs : Math.min(Math.max(...named), waitMaxMs)
}

const hasCallsLeft = (headers: Headers): boolean =>
  Number(headers.get('Rate-Limit-Remaining') ?? '0') > 0

/** How long an answer that took the last call of its window asks us to rest; 0 when calls are left. */
export const exhaustedForMs = (headers: Headers): number =>
  headers.get('Rate-Limit-Remaining') === '0'
    ? Math.min(secondsMs(headers.get('Rate-Limit-Reset')) ?? 0, waitMaxMs)
    : 0

const secondsMs = (text: string | null): number | undefined =>
  text !== null && /^[0-9]{1,9}(\.[0-9]{1,9})?$/.test(text)
    ? Math.ceil(Number(text) * 1_000)
    : undefined

function untilMs(text: string | null, nowMs: number): number | undefined {
  const at = text === null ? Number.NaN : Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs)
}

/** `/v3/payments/py-…?x=y` counts as `/v3/payments/:id`: limits are per endpoint. */
export const endpointOf = (method: string, path: string): string => {
  const [bare = ''] = path.split('?')
  return `${method} ${bare.replace(/\/[a-z]{1,8}-[^/]*/g, '/:id')}`
}
