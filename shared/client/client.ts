import { GetMe, PostCountry, PostVerification } from '#shared/api/account'
import { GetActivity } from '#shared/api/activity'
import { GetConfig } from '#shared/api/config'
import { PostCashout, PostSend, PostSettlement, PostTopup } from '#shared/api/money'
import { PostQuote } from '#shared/api/quotes'
import { GetRecord } from '#shared/api/record'
import type { AnswerOf, BodyOf, Route } from '#shared/api/route'
import { exchange, type Place } from '#shared/client/exchange'
import { type Answered, okOf } from '#shared/client/refusal'
import { openSession, type Signer } from '#shared/client/session'
import type { TransferSigner } from '#shared/client/transfer'
import { type Me, type Patience, waitForItem, waitForMe } from '#shared/client/waiting'

export { ausdAbi } from '#shared/chain/ausd-abi.gen'
export { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
export type { Place } from '#shared/client/exchange'
export { type Answered, okOf, type Refusal, Refused, Unanswered } from '#shared/client/refusal'
export { signIn } from '#shared/client/session'
export { signTransfer, type TransferTerms } from '#shared/client/transfer'
export {
  type Activity,
  type Item,
  type Me,
  NotYet,
  type Patience,
  StillInFlight,
} from '#shared/client/waiting'
export { activityReasons, activityStatuses } from '#shared/messages/activity'
export { type ErrorCode, errorCodes } from '#shared/refusals'

/** What a request has besides its body. */
type Rest = {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly authorization?: string
}

/** Asks one route of the interface; types, path and method are those of its one description. */
function ask<R extends Route>(
  place: Place,
  route: R,
  body: BodyOf<R>,
  { params = {}, query = {}, authorization }: Rest = {},
): Promise<Answered<AnswerOf<R>>> {
  const path = route.path.replace(/:([a-z]+)/g, (_, name) => encodeURIComponent(params[name] ?? ''))
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const asked = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return exchange<AnswerOf<R>>(place, {
    method: route.method,
    path: asked === '' ? path : `${path}?${asked}`,
    headers: authorization ? { authorization } : {},
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

/** What anybody may ask, without a wallet. */
export function openVisitor(place: Place) {
  return {
    /** What an app has to know before its first request; good for a minute and longer. */
    config: () => ask(place, GetConfig, undefined),
    /** Locks a rate for 60 seconds; what it is used for may take longer. */
    quote: (pair: BodyOf<typeof PostQuote>['pair']) => ask(place, PostQuote, { pair }),
    /** The public credit record of any wallet. */
    record: (wallet: string) => ask(place, GetRecord, undefined, { params: { wallet } }),
  }
}

/** The whole interface, as one wallet uses it. */
export type Client = ReturnType<typeof openClient>

/** Opens the interface for a wallet: whatever wants a session is signed in. */
export function openClient(place: Place & { readonly account: Signer & TransferSigner }) {
  const session = openSession(place.account)
  const signed = async <R extends Route>(
    route: R,
    body: BodyOf<R>,
    rest: Omit<Rest, 'authorization'> = {},
  ): Promise<Answered<AnswerOf<R>>> => {
    const once = async () =>
      ask(place, route, body, { ...rest, authorization: await session.header() })
    const first = await once()
    if (!('refused' in first) || first.refused.code !== 'sign_in_again') return first
    // Nothing was done: a session that ended meanwhile, or a clock that was set.
    session.forget()
    return once()
  }
  const me = () => signed(GetMe, undefined)
  const activity = (page: { limit?: number; cursor?: string | undefined } = {}) =>
    signed(GetActivity, undefined, { query: page })
  return {
    ...openVisitor(place),
    wallet: place.account.address,
    me,
    activity,
    setCountry: (country: string) => signed(PostCountry, { country }),
    /** A link to the hosted identity verification. */
    verification: () => signed(PostVerification, undefined),
    topUp: (body: BodyOf<typeof PostTopup>) => signed(PostTopup, body),
    settle: (body: BodyOf<typeof PostSettlement>) => signed(PostSettlement, body),
    cashOut: (body: BodyOf<typeof PostCashout>) => signed(PostCashout, body),
    send: (body: BodyOf<typeof PostSend>) => signed(PostSend, body),
    /** Waits until it is no longer in flight: a top-up, settlement, cash-out or send. */
    waitFor: (id: string, patience?: Patience) =>
      waitForItem(async (cursor) => okOf(await activity({ limit: 100, cursor })), id, patience),
    /** Waits until the account is as awaited: `(me) => me.verified && me.balance.native !== '0'`. */
    waitUntil: (isSo: (account: Me) => boolean, patience?: Omit<Patience, 'onStatus'>) =>
      waitForMe(async () => okOf(await me()), isSo, patience),
  }
}
