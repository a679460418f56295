import { Elysia } from 'elysia'
import type { Static } from 'typebox'
import { joinReads } from '#platform/reads'
import { GetActivity, GetActivityItem } from '#shared/api/activity'
import type { RouteAnswer } from '#shared/api/route'
import { isKnown, textIn } from '#shared/language/catalogue'
import type { Language } from '#shared/language/language'
import type { ActivityAnswer, ActivityEntry } from '#shared/messages/activity'
import { ChainActivity, ChainItem } from '#shared/messages/chain'
import { PaymentsActivity, PaymentsItem } from '#shared/messages/payments'
import { PayoutsActivity, PayoutsItem } from '#shared/messages/payouts'
import type { Context } from '../context'
import { inTime } from '../http/deadline'
import { answerTagged, type Exchange, tagged } from '../http/etag'
import { badRequest, okOf, Refused } from '../http/failure'
import { languageFor } from '../http/language'
import { type Wording, withSupport } from '../http/support'
import { operation } from '../openapi/operation'
import type { Access } from '../sign-in/access'

const limitDefault = 20
/** Wait before a page is read again, in ms, so that more requests share its three queries. */
const collectMs = 1

/** Serves the activity. It fails unless all three owners respond, because a partial list would mislead. */
export const activityRoute = ({ ask, config }: Context, access: Access) => {
  const read = async ({ wallet, limit, before, language }: ActivityRequest) => {
    const asked = { wallet, limit: limit + 1, ...(before ? { before } : {}) }
    const answers = await Promise.all([
      ask(PaymentsActivity, asked),
      ask(PayoutsActivity, asked),
      ask(ChainActivity, asked),
    ])
    return tagged(mergeActivity(answers.map(okOf), limit, { language, contact: config.supportContact }))
  }
  // A new order must be in the list at once, so a page is never older than its request.
  const keyOf = ({ wallet, limit, before, language }: ActivityRequest) =>
    [wallet, limit, before?.createdAt, before?.id, language].join()
  const page = joinReads(read, keyOf, collectMs)
  return new Elysia().use(access).get(
    GetActivity.path,
    async ({ request, set, wallet }) => {
      const language = languageFor({ request, set })
      const asked = { wallet, language, ...pageOf(request.url) }
      return answerTagged({ request, set }, await inTime(page(asked), 'the activity'))
    },
    {
      signed: true,
      ...operation({
        summary: 'List account activity',
        description:
          '`inFlight` lists everything not yet onchain or not yet confirmed by the provider; `items` ' +
          "is one page, newest first. `nextAction` is the user's next step: `pay` at `checkoutUrl`, " +
          '`wait`, `contact support`, or null if there is nothing to do. `sentence` explains the item ' +
          'to the user, and its wording may change at any time; `status`, `reason` and `channel` come ' +
          "from closed lists. `channelCode` is the provider's own code, from an open list.",
        tag: 'account',
        security: 'session',
        parameters: [
          {
            name: 'limit',
            in: 'query',
            description: 'Maximum number of items per page.',
            schema: { type: 'integer', minimum: 1, maximum: 100, default: limitDefault },
          },
          {
            name: 'cursor',
            in: 'query',
            description: '`nextCursor` of the previous page.',
            schema: { type: 'string', pattern: cursorForm.source },
          },
        ],
        ok: {
          description: 'One page; `nextCursor` is null on the last page.',
          schema: GetActivity.answer,
          example: { inFlight: [exampleItem], items: [exampleItem], nextCursor: null },
        },
        worded: true,
        tagged: true,
        errors: [400, 401, 429, 503],
      }),
    },
  )
}

export const idOf = {
  payment: /^pay_[A-Za-z0-9_-]{22}$/,
  cashout: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  send: /^snd_[A-Za-z0-9_-]{22}$/,
} as const
const owners = [
  { id: idOf.payment, question: PaymentsItem },
  { id: idOf.cashout, question: PayoutsItem },
  { id: idOf.send, question: ChainItem },
] as const
export const noSuchItem = () => new Refused(404, [{ code: 'item_not_found' }])

export const openItems =
  ({ ask }: Pick<Context, 'ask'>) =>
  async (wallet: `0x${string}`, id: string): Promise<ActivityEntry> => {
    const owner = owners.find((one) => one.id.test(id))
    if (!owner) throw noSuchItem()
    const { item } = okOf(await inTime(ask(owner.question, { wallet, id }), 'the item'))
    if (!item) throw noSuchItem()
    return item
  }

/** Serves one item. Unknown ids, malformed ids and ids of other wallets get the same answer. */
export const activityItemRoute = (context: Context, access: Access) => {
  const find = openItems(context)
  const wordingFor = (exchange: Exchange) => ({
    language: languageFor(exchange),
    contact: context.config.supportContact,
  })
  return new Elysia()
    .use(access)
    .get(
      GetActivityItem.path,
      async ({ request, params, set, wallet }) =>
        answerTagged({ request, set }, tagged(itemOf(await find(wallet, params.id), wordingFor({ request, set })))),
      {
        signed: true,
        ...operation({
          summary: 'Show one item of the account activity',
          description:
            'The item as in `GET /me/activity`, and `inFlight`. `id` is the `paymentId`, `payoutId` or ' +
            '`sendId` of its request. The items of other wallets do not exist for the caller.',
          tag: 'account',
          security: 'session',
          parameters: [idParameter],
          ok: {
            description: 'The item.',
            schema: GetActivityItem.answer,
            example: { ...exampleItem, inFlight: true },
          },
          worded: true,
          tagged: true,
          errors: [401, 404, 429, 503],
        }),
      },
    )
}

/**
 * Returns an entry with its sentence in the user's language. The service's English sentence stays if it uses texts
 * that are newer than ours.
 */
export function itemOf({ texts, ...item }: ActivityEntry, wording: Wording): Omit<ActivityEntry, 'texts'> {
  const worded = texts?.every(isKnown) ? { ...item, sentence: textIn(wording.language, texts) } : item
  return withSupport(worded, wording)
}

type Page = { readonly limit: number; readonly before?: Cursor }
type ActivityRequest = Page & { readonly wallet: `0x${string}`; readonly language: Language }

function pageOf(url: string): Page {
  const query = new URL(url).searchParams
  const limit = query.get('limit') ?? String(limitDefault)
  if (!/^([1-9][0-9]?|100)$/.test(limit)) throw badRequest({ code: 'limit_range' })
  const text = query.get('cursor')
  if (text === null) return { limit: Number(limit) }
  const before = parseCursor(text)
  if (!before) throw badRequest({ code: 'cursor_invalid' })
  return { limit: Number(limit), before }
}

export const exampleItem = {
  id: 'pay_Zk3nT0a7yQm1c5VbXw9uRd',
  kind: 'topup',
  status: 'awaiting_payment',
  nextAction: 'pay',
  sentence: 'Pay at the checkout before it closes.',
  pair: 'USD/IDR',
  fiat: '50000',
  ausd: '3076923',
  method: 'qr',
  checkoutUrl: 'https://checkout.example/session',
  expiresAt: '2026-11-21T07:15:00.000Z',
  createdAt: '2026-11-21T07:00:00.000Z',
  updatedAt: '2026-11-21T07:00:00.000Z',
}

type ActivityPage = RouteAnswer<typeof GetActivity>
type Item = ActivityPage['items'][number]

/** Merges the answers into a page. Each owner was asked for one entry more than the page holds. */
function mergeActivity(
  answers: readonly Static<typeof ActivityAnswer>[],
  limit: number,
  wording: Wording,
): ActivityPage {
  const items = answers.flatMap((answer) => answer.items).sort(newestFirst)
  const page = items.slice(0, limit)
  const last = page.at(-1)
  return {
    inFlight: answers
      .flatMap((answer) => answer.inFlight)
      .sort(newestFirst)
      .map((entry) => shown(entry, wording)),
    items: page.map((entry) => shown(entry, wording)),
    nextCursor: items.length > limit && last ? formatCursor(last) : null,
  }
}

/** Orders entries, newest first. Timestamps are UTC with milliseconds, so text order is time order. */
function newestFirst(left: Cursor, right: Cursor): number {
  if (left.createdAt !== right.createdAt) return left.createdAt < right.createdAt ? 1 : -1
  return left.id < right.id ? 1 : -1
}

/** Returns an item without `inFlight`, which the list already shows. */
const shown = (entry: ActivityEntry, wording: Wording) => {
  const { inFlight, ...item } = itemOf(entry, wording)
  return item as Item
}

/** Position of a page's last entry, in the order (createdAt, id). */
type Cursor = { readonly createdAt: string; readonly id: string }
const cursorForm = /^[A-Za-z0-9_-]{1,400}$/

/** Form of ids. Postgres rejects text with a NUL byte or half a surrogate pair. */
const ownId = /^[A-Za-z0-9_-]{1,200}$/

export const idParameter = {
  name: 'id',
  in: 'path',
  required: true,
  description: '`paymentId`, `payoutId` or `sendId`.',
  schema: { type: 'string', pattern: ownId.source, examples: [exampleItem.id] },
}

/**
 * Returns true for a valid timestamp. `Date` reads 31 February as 3 March; Postgres rejects it, and years
 * above 9999, which have a sign.
 */
export const isTimestamp = (text: string): boolean => {
  const at = new Date(text)
  return /^\d{4}-/.test(text) && at.getTime() >= 0 && at.toISOString() === text
}

const formatCursor = ({ createdAt, id }: Cursor): string =>
  Buffer.from(JSON.stringify([createdAt, id])).toString('base64url')

/** Returns undefined for a cursor that we never issued. */
export function parseCursor(text: string): Cursor | undefined {
  if (!cursorForm.test(text)) return undefined
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    if (!Array.isArray(value) || value.length !== 2) return undefined
    const [createdAt, id] = value
    if (typeof createdAt !== 'string' || typeof id !== 'string') return undefined
    return isTimestamp(createdAt) && ownId.test(id) ? { createdAt, id } : undefined
  } catch {
    return undefined
  }
}
