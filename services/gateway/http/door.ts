import type { Log } from '#shared/log'
import type { SignIn } from '../sign-in/sign-in'
import { callerOf } from './caller'
import { fail, failureOf, succeed } from './failure'
import { type Limiter, takeFrom } from './limit'

/** What a route is given of the router's context. */
export type Visit = {
  readonly request: Request
  readonly params: Readonly<Record<string, string | undefined>>
  readonly route: string
}
/** A visit whose wallet (lower-case) is proven. */
export type SignedVisit = Visit & { readonly wallet: `0x${string}` }

/** A value becomes a 200; a `Response` goes out as it is; a throw becomes a failure. */
export type Handling<V> = (visit: V) => Promise<unknown>
type Handler = (visit: Visit) => Promise<Response>

/** The ways into the service: every route goes through one of them. */
export type Door = {
  /** No sign-in, no limit: probes and documentation. */
  readonly free: (handling: Handling<Visit>) => Handler
  /** No sign-in, limited per address. */
  readonly open: (handling: Handling<Visit>) => Handler
  /** For the providers' webhooks: a wide limit of their own, per address. */
  readonly delivery: (handling: Handling<Visit>) => Handler
  /** Signed in, limited per wallet; checked before the body is read. */
  readonly signed: (handling: Handling<SignedVisit>) => Handler
}

/** Ties the ways in to sign-in and limits. */
export function openDoor(options: {
  signIn: SignIn
  limits: { open: Limiter; delivery: Limiter; signed: Limiter }
  log: Log
}): Door {
  const { signIn, limits, log } = options
  const guard =
    (handling: Handling<Visit>): Handler =>
    async (visit) => {
      const caller = callerOf(visit.request)
      caller.route = visit.route
      try {
        const value = await handling(visit)
        return value instanceof Response ? value : succeed(value)
      } catch (error) {
        const failure = failureOf(error)
        if (failure.level !== 'quiet')
          log[failure.level]({ err: error, route: visit.route }, 'request failed')
        return fail(failure)
      }
    }
  const limited = (limiter: Limiter, handling: Handling<Visit>) =>
    guard(async (visit) => {
      takeFrom(limiter, callerOf(visit.request).address)
      return handling(visit)
    })
  return {
    free: guard,
    open: (handling) => limited(limits.open, handling),
    delivery: (handling) => limited(limits.delivery, handling),
    signed: (handling) =>
      guard(async (visit) => {
        const header = visit.request.headers.get('authorization')
        const wallet = await signIn(header, callerOf(visit.request).address)
        takeFrom(limits.signed, wallet)
        return handling({ ...visit, wallet })
      }),
  }
}
