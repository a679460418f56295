import type { Answer } from '#shared/refusals'
import type { Failure } from './failure.ts'
import { refusedAs } from './refused.ts'

/** A success: always 200 with a JSON body. */
export const succeed = (value: unknown): Response => Response.json(value)

/** A failure: always `{ error }`. */
export const fail = (failure: Failure): Response =>
  Response.json(
    { error: failure.message },
    {
      status: failure.status,
      headers: failure.retryAfterSeconds
        ? { 'Retry-After': String(failure.retryAfterSeconds) }
        : {},
    },
  )

/** The value of an answer; throws its refusal. */
export function okOf<T>(answer: Answer<T>): T {
  if ('refused' in answer) throw refusedAs(answer.refused)
  return answer.ok
}
