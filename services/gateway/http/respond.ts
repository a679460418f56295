import type { Answer } from '#shared/refusals'
import type { Failure } from './failure.ts'
import { refusedAs } from './refused.ts'

/** A success: always 200 with a JSON body. */
export const succeed = (value: unknown): Response => Response.json(value)

/** The words of what no table of refusals names. */
const codes: ReadonlyMap<number, string> = new Map([
  [400, 'bad_request'],
  [401, 'sign_in_again'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [413, 'too_large'],
  [429, 'too_many_requests'],
  [503, 'unavailable'],
])

/** A failure: always `{ error }`, and its word for programs in `x-error-code`. */
export const fail = (failure: Failure): Response =>
  Response.json(
    { error: failure.message },
    {
      status: failure.status,
      headers: {
        'x-error-code': failure.code ?? codes.get(failure.status) ?? 'internal',
        ...(failure.retryAfterSeconds ? { 'Retry-After': String(failure.retryAfterSeconds) } : {}),
      },
    },
  )

/** The value of an answer; throws its refusal. */
export function okOf<T>(answer: Answer<T>): T {
  if ('refused' in answer) throw refusedAs(answer.refused)
  return answer.ok
}
