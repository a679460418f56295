import {
  type ErrorCode,
  errorCodeHeader,
  errorCodes,
  type GeneralCode,
  generalCodeOf,
  type RefusalCode,
} from '#shared/refusals'

/** A request that got a no. `message` is for a person, `code` is one of a closed list. */
export type Refusal = {
  readonly code: ErrorCode
  readonly status: number
  readonly message: string
  /** When the service says how long to wait. */
  readonly retryAfterMs?: number
  /** By it the operators find the request in their logs. */
  readonly requestId: string | null
}

/** An answer, or a no. What did not come at all is neither: it is thrown as `Unanswered`. */
export type Answered<T> = { readonly ok: T } | { readonly refused: Refusal }

/** Nobody answered: the outcome is unknown, and the same request again is safe. */
export class Unanswered extends Error {
  override name = 'Unanswered'
  constructor(what: string, tries: number, cause: unknown) {
    super(`${what} was not answered in ${tries} ${tries === 1 ? 'try' : 'tries'}`, { cause })
  }
}

/** A refusal where the caller cannot go on without the answer; thrown by `okOf`. */
export class Refused extends Error {
  override name = 'Refused'
  readonly refusal: Refusal
  constructor(refusal: Refusal) {
    super(refusal.message)
    this.refusal = refusal
  }
}

/** The value of an answer; throws its refusal. */
export function okOf<T>(answered: Answered<T>): T {
  if ('refused' in answered) throw new Refused(answered.refused)
  return answered.ok
}

const known: ReadonlySet<string> = new Set(errorCodes)
const isCode = (word: string | null): word is ErrorCode => word !== null && known.has(word)

/**
 * What an answer refuses. Undefined when it is not one of the service's own: a proxy's page says
 * nothing about what became of the request.
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
 * What a moment may mend; every other no stays a no, however often it is asked for: the rules of
 * money, the limits of a day, and a treasury that is short.
 */
const passing = new Set<ErrorCode>([
  'internal',
  'unavailable',
  'too_many_requests',
  'rate_unavailable',
  'provider_unavailable',
  'chain_unavailable',
] satisfies (RefusalCode | GeneralCode)[])

/** May the same request be answered otherwise in a moment? */
export const isPassing = ({ code }: Refusal): boolean => passing.has(code)
