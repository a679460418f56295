import { NatsError } from 'nats'
import { Faulted, Unavailable } from '#shared/bus/ask'
import { Overdue } from '#shared/deadline'
import { Refused } from './refused.ts'

/** What a caller is told about a failure, and whether somebody has to look at it. */
export type Failure = {
  readonly status: number
  readonly message: string
  readonly retryAfterSeconds?: number
  /** The stable word for programs, where the table of refusals has one. */
  readonly code?: string
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
