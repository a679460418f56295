import { NotFoundError } from 'elysia'
import { NatsError } from 'nats'
import { Faulted, Unavailable } from '#platform/bus/ask'
import { DeadlinePassed } from '#platform/deadline'
import { refusals } from '#shared/declared-refusals'
import { type TextRef, textIn } from '#shared/language/catalogue'
import { dayEndMs, homePair } from '#shared/money/day'
import { type Answer, errorCodeHeader, generalCodeOf, type RefusalCode } from '#shared/refusals'

type RefusedStatus = 400 | 401 | 403 | 404 | 405 | 408 | 413 | 415 | 429 | 503

/** Refusal of a request. Its message, for logs, is in English. */
export class Refused extends Error {
  override name = 'Refused'
  constructor(
    readonly status: RefusedStatus,
    readonly texts: readonly TextRef[],
    readonly retryAfterSeconds?: number,
    /** Code of the refusal; by default that of the status. */
    readonly code?: RefusalCode,
  ) {
    super(textIn('en', texts))
  }
}

export const badRequest = (text: TextRef) => new Refused(400, [text])

export const refusedAs = (code: RefusalCode, since?: string): Refused =>
  new Refused(
    refusals[code].status,
    since ? [{ code }, { code: 'paused_since', since }] : [{ code }],
    since ? pausedSeconds : undefined,
    code,
  )

/** Value of Retry-After during a pause. Only an operator ends a pause, which takes a while. */
const pausedSeconds = 60

export type Failure = {
  readonly status: number
  readonly texts: readonly TextRef[]
  readonly retryAfterSeconds?: number
  readonly code?: RefusalCode
  readonly level: 'quiet' | 'warn' | 'error'
}

const retryAfterSeconds = 2
const busy: Failure = {
  status: 503,
  texts: [{ code: 'busy' }],
  retryAfterSeconds,
  level: 'warn',
}
const bug: Failure = { status: 500, texts: [{ code: 'internal' }], level: 'error' }

/** Returns the response to an error. Never exposes the message of an unexpected error. */
export function failureOf(error: unknown, nowMs: number): Failure {
  if (error instanceof NotFoundError) return refusedFailure(new Refused(404, [{ code: 'not_found' }]), nowMs)
  if (error instanceof Refused) return refusedFailure(error, nowMs)
  return causesOf(error).some(isDependency) ? busy : bug
}

function refusedFailure(refused: Refused, nowMs: number): Failure {
  const { status, texts, code } = refused
  const given = refused.retryAfterSeconds ?? (code && secondsLeft(code, nowMs))
  const wait = given ?? (status === 503 || status === 429 ? retryAfterSeconds : undefined)
  return {
    status,
    texts,
    level: 'quiet' as const,
    ...(wait ? { retryAfterSeconds: wait } : {}),
    ...(code ? { code } : {}),
  }
}

function secondsLeft(code: RefusalCode, nowMs: number): number | undefined {
  const refusal = refusals[code]
  if (!('ends' in refusal)) return undefined
  return refusal.ends === 'hour' ? 3_600 : secondsToMidnight(nowMs)
}

const secondsToMidnight = (nowMs: number) => Math.ceil((dayEndMs(homePair, nowMs) - nowMs) / 1_000)

/** Returns an error and its causes, up to five in total: drizzle wraps the errors of postgres.js. */
function causesOf(error: unknown): unknown[] {
  const chain: unknown[] = []
  for (let at = error; at instanceof Error && chain.length < 5; at = at.cause) chain.push(at)
  return chain
}

/** Codes of postgres.js 3.4.9 and the kernel, PostgreSQL classes 08, 53, 57 and 58, read-only, and conflicts. */
const unreachable =
  /^(CONNECT(ION)?_|ECONN|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_|ERR_POSTGRES|08|25006|53|57|58|40001|40P01|55P03)/

function isDependency(error: unknown): boolean {
  if (error instanceof DeadlinePassed || error instanceof Unavailable || error instanceof Faulted) return true
  if (error instanceof NatsError) return true
  return unreachable.test(String((error as { code?: unknown }).code ?? ''))
}

export const failureHeaders = (failure: Failure): Record<string, string> => ({
  [errorCodeHeader]: failure.code ?? generalCodeOf(failure.status),
  ...(failure.retryAfterSeconds ? { 'retry-after': String(failure.retryAfterSeconds) } : {}),
})

/** Returns the value of an answer, or throws its refusal. */
export function okOf<T>(answer: Answer<T>): T {
  if ('refused' in answer) throw refusedAs(answer.refused, answer.since)
  return answer.ok
}
