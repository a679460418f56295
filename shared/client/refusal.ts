import {
  type ErrorCode,
  errorCodeHeader,
  errorCodes,
  type GeneralCode,
  generalCodeOf,
  type RefusalCode,
} from '#shared/refusals'

/** A refused request. `message` may be shown to the user; `code` is one of a closed list. */
export type Refusal = {
  readonly code: ErrorCode
  readonly status: number
  readonly message: string
  /** Set if the service asks for a delay. */
  readonly retryAfterMs?: number
  /** Id of the request in the service's logs. */
  readonly requestId: string | null
}

/** A result or a refusal. A request without a response is thrown as `Unanswered`. */
export type Answered<T> = { readonly ok: T } | { readonly refused: Refusal }

/** No response: the outcome is unknown, and repeating the same request is safe. */
export class Unanswered extends Error {
  override name = 'Unanswered'
  constructor(what: string, tries: number, cause: unknown) {
    super(`no response to ${what} after ${tries} ${tries === 1 ? 'attempt' : 'attempts'}`, {
      cause,
    })
  }
}

/** A refusal as an exception; thrown by `okOf`. */
export class Refused extends Error {
  override name = 'Refused'
  readonly refusal: Refusal
  constructor(refusal: Refusal) {
    super(refusal.message)
    this.refusal = refusal
  }
}

/** Returns the value of a result, or throws its refusal. */
export function okOf<T>(answered: Answered<T>): T {
  if ('refused' in answered) throw new Refused(answered.refused)
  return answered.ok
}

const known: ReadonlySet<string> = new Set(errorCodes)
const isCode = (word: string | null): word is ErrorCode => word !== null && known.has(word)

/**
 * Parses a refusal. Returns undefined if the response is not the service's own: the error page of a
 * proxy does not reveal the outcome of the request.
 */
export function refusalOf(status: number, headers: Headers, body: unknown): Refusal | undefined {
  const message = (body as { error?: unknown } | null)?.error
  if (status < 400 || typeof message !== 'string') return undefined
  const word = headers.get(errorCodeHeader)
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  return {
    code: isCode(word) ? word : generalCodeOf(status),
    ...{ status, message, requestId: headers.get('x-request-id') },
    ...(Number.isFinite(seconds) ? { retryAfterMs: seconds * 1_000 } : {}),
  }
}

/**
 * Codes of temporary refusals. All others are final however often the request is repeated: business
 * rules, daily limits, and an insufficient treasury.
 */
const passing = new Set<ErrorCode>([
  'internal',
  'unavailable',
  'too_many_requests',
  'rate_unavailable',
  'provider_unavailable',
  'chain_unavailable',
  'cancellation_unconfirmed',
] satisfies (RefusalCode | GeneralCode)[])

/** Returns whether the same request may succeed in a moment. */
export const isPassing = ({ code }: Refusal): boolean => passing.has(code)
