import {
  type ErrorCode,
  errorCodeHeader,
  errorCodes,
  type GeneralCode,
  generalCodeOf,
  type RefusalCode,
} from '#shared/refusals'

/** A refusal, whose `message` may be shown to the user. */
export type ClientRefusal = {
  readonly code: ErrorCode
  readonly status: number
  readonly message: string
  readonly retryAfterMs?: number
  /** Id of the request in the service's logs. */
  readonly requestId: string | null
  /** Time of the answer by the service's clock, in ms since 1970. It is missing if a browser may not read it. */
  readonly serverMs?: number
}

/** An outcome. A request without a response is thrown as `Unanswered` instead. */
export type Answered<T> = { readonly ok: T } | { readonly refused: ClientRefusal }

/** Error of a request whose outcome is unknown; repeating the same request is safe. */
export class Unanswered extends Error {
  override name = 'Unanswered'
  constructor(what: string, tries: number, cause: unknown) {
    super(`no response to ${what} after ${tries} ${tries === 1 ? 'attempt' : 'attempts'}`, {
      cause,
    })
  }
}

export class Refused extends Error {
  override name = 'Refused'
  readonly refusal: ClientRefusal
  constructor(refusal: ClientRefusal) {
    super(refusal.message)
    this.refusal = refusal
  }
}

/** Returns the result. Throws `Refused` if there is none. */
export function okOf<T>(answered: Answered<T>): T {
  if ('refused' in answered) throw new Refused(answered.refused)
  return answered.ok
}

const known: ReadonlySet<string> = new Set(errorCodes)
const isCode = (word: string | null): word is ErrorCode => word !== null && known.has(word)

/**
 * Reads a refusal. Returns undefined if the response is not the service's own: the error page of a proxy does not
 * reveal the outcome.
 */
export function refusalOf(status: number, headers: Headers, body: unknown): ClientRefusal | undefined {
  const message = (body as { error?: unknown } | null)?.error
  if (status < 400 || typeof message !== 'string') return undefined
  const word = headers.get(errorCodeHeader)
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  const serverMs = serverMsOf(headers)
  return {
    code: isCode(word) ? word : generalCodeOf(status),
    status,
    message,
    requestId: headers.get('x-request-id'),
    ...(Number.isFinite(seconds) ? { retryAfterMs: seconds * 1_000 } : {}),
    ...(serverMs === undefined ? {} : { serverMs }),
  }
}

/** Returns the time of a response by the service's clock, in Unix ms. */
export function serverMsOf(headers: Pick<Headers, 'get'>): number | undefined {
  const serverMs = Date.parse(headers.get('date') ?? '')
  return Number.isFinite(serverMs) ? serverMs : undefined
}

/** Codes of temporary refusals. All others are final: business rules, daily limits, an insufficient treasury. */
const passing = new Set<ErrorCode>([
  'internal',
  'unavailable',
  'too_many_requests',
  'too_slow',
  'rate_unavailable',
  'provider_unavailable',
  'chain_unavailable',
  'cancellation_unconfirmed',
] satisfies (RefusalCode | GeneralCode)[])

export const isPassing = ({ code }: ClientRefusal): boolean => passing.has(code)
