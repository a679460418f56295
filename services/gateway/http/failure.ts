import { NotFoundError } from 'elysia'
import { NatsError } from 'nats'
import { Faulted, Unavailable } from '#shared/bus/ask'
import { Overdue } from '#shared/deadline'
import {
  type Answer,
  errorCodeHeader,
  generalCodeOf,
  type RefusalCode,
  refusals,
} from '#shared/refusals'

/** Every status a refusal may have. */
export type RefusedStatus = 400 | 401 | 403 | 404 | 413 | 429 | 503

/** A request that gets a no: status and a sentence for a person. Thrown by a route, answered by `edge.ts`. */
export class Refused extends Error {
  override name = 'Refused'
  constructor(
    readonly status: RefusedStatus,
    message: string,
    readonly retryAfterSeconds?: number,
    /** The stable word for programs; without one, that of the status. */
    readonly code?: RefusalCode,
  ) {
    super(message)
  }
}

/** The way out that every 401 names. */
export const signInAgain = (why: string) => new Refused(401, `${why}: sign in again`)

/** A 400; the message names the field and what it must be. */
export const badRequest = (message: string) => new Refused(400, message)

/** Another service's refusal in its HTTP form. */
export const refusedAs = (code: RefusalCode, since?: string): Refused =>
  new Refused(
    refusals[code].status,
    since ? `${refusals[code].message} (paused since ${since})` : refusals[code].message,
    daily.has(code) ? secondsToMidnight(Date.now()) : since ? pausedSeconds : undefined,
    code,
  )

/** Only a person ends a pause, which takes a while. */
const pausedSeconds = 60

/** What only the end of the day mends. */
const daily: ReadonlySet<RefusalCode> = new Set(['day_limit_reached', 'gas_budget_spent'])
const dayMs = 86_400_000
/** The limits of a day count from midnight to midnight, UTC. */
const secondsToMidnight = (nowMs: number) => Math.ceil((dayMs - (nowMs % dayMs)) / 1_000)

/** What a caller is told about a failure, and whether somebody has to look at it. */
export type Failure = {
  readonly status: number
  readonly message: string
  readonly retryAfterSeconds?: number
  /** The stable word for programs, where the table of refusals has one. */
  readonly code?: RefusalCode
  readonly level: 'quiet' | 'warn' | 'error'
}

const retryAfterSeconds = 2
const busy: Failure = {
  status: 503,
  message: 'the service is busy, try again',
  retryAfterSeconds,
  level: 'warn',
}
const bug: Failure = { status: 500, message: 'something went wrong', level: 'error' }

/**
 * The one place that turns an error into an answer; the words of an unexpected error stay inside.
 */
export function failureOf(error: unknown): Failure {
  if (error instanceof NotFoundError) return refusedFailure(new Refused(404, 'not found'))
  if (error instanceof Refused) return refusedFailure(error)
  return causesOf(error).some(isDependency) ? busy : bug
}

function refusedFailure({ status, message, retryAfterSeconds: given, code }: Refused): Failure {
  const wait = given ?? (status === 503 || status === 429 ? retryAfterSeconds : undefined)
  return {
    ...{ status, message, level: 'quiet' as const },
    ...(wait ? { retryAfterSeconds: wait } : {}),
    ...(code ? { code } : {}),
  }
}

/** An error and what it wraps, at most five deep: drizzle wraps what postgres.js throws. */
function causesOf(error: unknown): unknown[] {
  const chain: unknown[] = []
  for (let at = error; at instanceof Error && chain.length < 5; at = at.cause) chain.push(at)
  return chain
}

/** postgres.js 3.4.9 and the kernel; class 08, 53 and 57 of PostgreSQL's error codes. */
const unreachable =
  /^(CONNECT(ION)?_|ECONN|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_|ERR_POSTGRES|08|53|57|40001|40P01|55P03)/

function isDependency(error: unknown): boolean {
  if (error instanceof Overdue || error instanceof Unavailable || error instanceof Faulted)
    return true
  if (error instanceof NatsError) return true
  return unreachable.test(String((error as { code?: unknown }).code ?? ''))
}

/** Besides `{ error }`, every failure has its word for programs in `x-error-code`. */
export const failureHeaders = (failure: Failure): Record<string, string> => ({
  [errorCodeHeader]: failure.code ?? generalCodeOf(failure.status),
  ...(failure.retryAfterSeconds ? { 'retry-after': String(failure.retryAfterSeconds) } : {}),
})

/** The value of an answer; throws its refusal. */
export function okOf<T>(answer: Answer<T>): T {
  if ('refused' in answer) throw refusedAs(answer.refused, answer.since)
  return answer.ok
}
