import { GetExport, GetMe, PostCountry, PostVerification } from '#shared/api/account'
import { GetActivity, GetActivityItem } from '#shared/api/activity'
import { GetConfig } from '#shared/api/config'
import {
  PostAccountCheck,
  PostCashout,
  PostSend,
  PostSettlement,
  PostSettlementCancel,
  PostTopup,
  PostTopupCancel,
} from '#shared/api/money'
import { PostQuote } from '#shared/api/quotes'
import { GetRecord } from '#shared/api/record'
import type { BodyOf, Route, RouteAnswer } from '#shared/api/route'
import { GetReceipt, GetStatement } from '#shared/api/statement'
import { acceptedTermsHeader } from '#shared/api/terms'
import { type Watching, watchChanges } from '#shared/client/changes'
import { type ClientTarget, exchange } from '#shared/client/exchange'
import { type Answered, okOf } from '#shared/client/refusal'
import { openSession, type SessionStore, type Signer } from '#shared/client/session'
import type { TransferSigner } from '#shared/client/transfer'
import { type Me, type Patience, waitForItem, waitForMe } from '#shared/client/waiting'

export { ausdAbi } from '#shared/chain/ausd-abi.gen'
export { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
export type { ClientTarget } from '#shared/client/exchange'
export {
  type Answered,
  type ClientRefusal,
  isPassing,
  okOf,
  Refused,
  Unanswered,
} from '#shared/client/refusal'
export { serviceMs } from '#shared/client/service-time'
export { type SessionStore, type Signer, signIn } from '#shared/client/session'
export { fromWallet, signTransfer, type TransferSigner, type TransferTerms } from '#shared/client/transfer'
export {
  type Activity,
  type Item,
  type Me,
  NotYet,
  type Patience,
  StillInFlight,
} from '#shared/client/waiting'
export { type Language, languages } from '#shared/language/language'
export { activityReasons, activityStatuses } from '#shared/messages/activity'
export { type ErrorCode, errorCodes } from '#shared/refusals'

type Rest = {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly authorization?: string
  readonly acceptedTerms?: string | undefined
  readonly isText?: boolean
}

function ask<R extends Route>(
  place: ClientTarget,
  route: R,
  body: BodyOf<R>,
  { params = {}, query = {}, authorization, acceptedTerms, isText = false }: Rest = {},
): Promise<Answered<RouteAnswer<R>>> {
  const path = route.path.replace(/:([a-z]+)/g, (_, name) => encodeURIComponent(params[name] ?? ''))
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const asked = given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&')
  return exchange<RouteAnswer<R>>(place, {
    method: route.method,
    path: asked === '' ? path : `${path}?${asked}`,
    headers: {
      ...(authorization && { authorization }),
      ...(acceptedTerms && { [acceptedTermsHeader]: acceptedTerms }),
    },
    isText,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

export const openVisitor = (place: ClientTarget) => publicRequests(place, async () => undefined)

/**
 * Opens the requests that need no session. With the header of one they count for its wallet, and not for the address, which
 * hundreds of users of a phone network share.
 */
function publicRequests(place: ClientTarget, known: () => Promise<string | undefined>) {
  const counted = async <R extends Route>(route: R, body: BodyOf<R>, rest: Omit<Rest, 'authorization'> = {}) => {
    const authorization = await known()
    return ask(place, route, body, { ...rest, ...(authorization && { authorization }) })
  }
  return {
    /** Reads the public configuration, which may be cached for a minute or longer. */
    config: () => ask(place, GetConfig, undefined),
    /** Locks a rate for 60 seconds. The request for which it is used may complete later. */
    quote: (pair: BodyOf<typeof PostQuote>['pair'], use?: BodyOf<typeof PostQuote>['use']) =>
      counted(PostQuote, { pair, ...(use && { use }) }),
    record: (wallet: string) => counted(GetRecord, undefined, { params: { wallet } }),
  }
}

/** Period of a statement, as dates in the user's country or as times with a zone. */
type StatementPeriod = { readonly from?: string; readonly to?: string }

export type Client = ReturnType<typeof openClient>

/** Opens a client that signs in where a session is needed. */
export function openClient(
  place: ClientTarget & {
    readonly account: Signer & TransferSigner
    readonly session?: SessionStore
    /** Returns the version of the terms that the user has accepted, or undefined. */
    readonly acceptedTerms?: () => string | undefined
  },
) {
  const session = openSession(place.account, place.session)
  const signed = async <R extends Route>(
    route: R,
    body: BodyOf<R>,
    rest: Omit<Rest, 'authorization'> = {},
  ): Promise<Answered<RouteAnswer<R>>> => {
    const once = (authorization: string) =>
      ask(place, route, body, { ...rest, authorization, acceptedTerms: place.acceptedTerms?.() })
    const header = await session.header()
    const first = await once(header)
    if (!('refused' in first) || first.refused.code !== 'sign_in_again') return first
    // The request did nothing: the session has expired, or a clock was adjusted.
    await session.forget(header, first.refused.serverMs)
    return once(await session.header())
  }
  const me = () => signed(GetMe, undefined)
  const activity = (page: { limit?: number; cursor?: string | undefined } = {}) =>
    signed(GetActivity, undefined, { query: page })
  const item = (id: string) => signed(GetActivityItem, undefined, { params: { id } })
  return {
    ...publicRequests(place, session.known),
    wallet: place.account.address,
    me,
    activity,
    /** Reads an item by `paymentId`, `payoutId` or `sendId`. */
    item,
    /** Reads a receipt, an HTML page to print. */
    receipt: (id: string) => signed(GetReceipt, undefined, { params: { id }, isText: true }),
    /** Reads a statement, whose end `to` is exclusive. */
    statement: (period: StatementPeriod = {}) => signed(GetStatement, undefined, { query: period }),
    statementCsv: (period: StatementPeriod = {}) =>
      signed<typeof GetReceipt>({ ...GetReceipt, path: GetStatement.path } as never, undefined, {
        query: { ...period, format: 'csv' },
        isText: true,
      }),
    setCountry: (country: string) => signed(PostCountry, { country }),
    /** Exports everything stored about the wallet, which is allowed a few times a day. */
    exportData: () => signed(GetExport, undefined),
    verification: () => signed(PostVerification, undefined),
    topUp: (body: BodyOf<typeof PostTopup>) => signed(PostTopup, body),
    settle: (body: BodyOf<typeof PostSettlement>) => signed(PostSettlement, body),
    /** Cancels a top-up unless it is paid. Returns the item afterwards, cancelled or paid. */
    cancelTopUp: (id: string) => signed(PostTopupCancel, undefined, { params: { id } }),
    /** Cancels a settlement unless it is paid. Returns the item afterwards, cancelled or paid. */
    cancelSettlement: (id: string) => signed(PostSettlementCancel, undefined, { params: { id } }),
    /** Checks the holder name before a cash-out, which is allowed a few times a day. */
    checkAccount: (body: BodyOf<typeof PostAccountCheck>) => signed(PostAccountCheck, body),
    cashOut: (body: BodyOf<typeof PostCashout>) => signed(PostCashout, body),
    send: (body: BodyOf<typeof PostSend>) => signed(PostSend, body),
    /** Calls `onChange` at once and after each change of `me` or `activity`, until the signal fires. Never throws. */
    watch: (onChange: () => void, watching: Watching) => watchChanges(place, session, onChange, watching),
    /** Waits until an item is no longer in flight. */
    waitFor: (id: string, patience?: Patience) => waitForItem(async () => okOf(await item(id)), id, patience),
    /** Waits for a condition of the account, such as `(me) => me.verified && me.balance.native !== '0'`. */
    waitUntil: (isSo: (account: Me) => boolean, patience?: Omit<Patience, 'onStatus'>) =>
      waitForMe(async () => okOf(await me()), isSo, patience),
  }
}
