import type { RefusalCode } from '#shared/refusals'
import { refusals } from '#shared/refusals'

/** Every status a refusal may have. */
export type RefusedStatus = 400 | 401 | 403 | 404 | 413 | 429 | 503

/** A request that gets a no: status and a sentence for a person. Thrown, caught at the door. */
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
export const refusedAs = (code: RefusalCode): Refused =>
  new Refused(refusals[code].status, refusals[code].message, undefined, code)
