import { Elysia } from 'elysia'
import type { Static } from 'typebox'
import { GetActivity } from '#shared/api/activity'
import type { AnswerOf } from '#shared/api/route'
import type { ActivityAnswer, ActivityEntry } from '#shared/messages/activity'
import { ChainActivity } from '#shared/messages/chain'
import { PaymentsActivity } from '#shared/messages/payments'
import { PayoutsActivity } from '#shared/messages/payouts'
import { joined } from '#shared/reads/reads'
import type { Context } from '../context'
import { inTime } from '../http/deadline'
import { answerTagged, tagged } from '../http/etag'
import { badRequest, okOf } from '../http/failure'
import { operation } from '../openapi/operation'
import type { Access } from '../sign-in/access'

const limitDefault = 20
/** A page is three questions and three statements. */
const gatherMs = 1

/** `GET /me/activity`: all three owners must answer, because a missing part would be a lie. */
export const activityRoute = ({ ask }: Context, access: Access) => {
  const read = async ({ wallet, limit, before }: Asked) => {
    const asked = { wallet, limit: limit + 1, ...(before ? { before } : {}) }
    const answers = await Promise.all([
      ask(PaymentsActivity, asked),
      ask(PayoutsActivity, asked),
      ask(ChainActivity, asked),
    ])
    return tagged(mergeActivity(answers.map(okOf), limit))
  }
  // What a wallet has just begun must be in its list: no page is older than the question for it.
  const keyOf = ({ wallet, limit, before }: Asked) =>
    [wallet, limit, before?.createdAt, before?.id].join()
  const page = joined(read, keyOf, gatherMs)
  return new Elysia().use(access).get(
    GetActivity.path,
    async ({ request, set, wallet }) => {
      const asked = { wallet, ...pageOf(request.url) }
      return answerTagged({ request, set }, await inTime(page(asked), 'the activity'))
    },
    {
      signed: true,
      ...operation({
        summary: 'What happened and what is in flight',
        description:
          '`inFlight` is everything not yet onchain or not yet confirmed by the provider; `items` ' +
          'is one page, newest first. `nextAction` is what the user does about an item: `pay` at ' +
          '`checkoutUrl`, `wait`, `contact support`, or null when nothing is to be done. `sentence` ' +
          'says it to a person and may be worded otherwise at any time; `status`, `reason` and ' +
          '`channel` are of closed lists. `channelCode` is the word of the provider, which has more ' +
          'of them than we know.',
        tag: 'account',
        security: 'session',
        parameters: [
          {
            name: 'limit',
            in: 'query',
            description: 'Items of one page at most.',
            schema: { type: 'integer', minimum: 1, maximum: 100, default: limitDefault },
          },
          {
            name: 'cursor',
            in: 'query',
            description: '`nextCursor` of the page before.',
            schema: { type: 'string' },
          },
        ],
        ok: {
          description: 'One page; `nextCursor` is null on the last.',
          schema: GetActivity.answer,
          example: { inFlight: [entry], items: [entry], nextCursor: null },
        },
        tagged: true,
        errors: [400, 401, 429, 503],
      }),
    },
  )
}

type Page = { readonly limit: number; readonly before?: Cursor }
type Asked = Page & { readonly wallet: `0x${string}` }

function pageOf(url: string): Page {
  const query = new URL(url).searchParams
  const limit = query.get('limit') ?? String(limitDefault)
  if (!/^([1-9][0-9]?|100)$/.test(limit)) throw badRequest('limit must be a number from 1 to 100')
  const text = query.get('cursor')
  if (text === null) return { limit: Number(limit) }
  const before = parseCursor(text)
  if (!before) throw badRequest('cursor is not one that this list gave')
  return { limit: Number(limit), before }
}

const entry = {
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

/** One line of the list as its owner tells it. */
type Entry = Static<typeof ActivityEntry>
type ActivityPage = AnswerOf<typeof GetActivity>
type Item = ActivityPage['items'][number]

/**
 * One page from what the owners answered; each was asked for one entry more than the page holds.
 */
function mergeActivity(
  answers: readonly Static<typeof ActivityAnswer>[],
  limit: number,
): ActivityPage {
  const items = answers.flatMap((answer) => answer.items).sort(newestFirst)
  const page = items.slice(0, limit)
  const last = page.at(-1)
  return {
    inFlight: answers
      .flatMap((answer) => answer.inFlight)
      .sort(newestFirst)
      .map(shown),
    items: page.map(shown),
    nextCursor: items.length > limit && last ? formatCursor(last) : null,
  }
}

/**
 * Both parts compare as text: timestamps are UTC with milliseconds, so text order is time order.
 */
function newestFirst(left: Cursor, right: Cursor): number {
  if (left.createdAt !== right.createdAt) return left.createdAt < right.createdAt ? 1 : -1
  return left.id < right.id ? 1 : -1
}

/** In which list an entry stands says whether it is in flight. */
function shown({ inFlight, ...entry }: Entry): Item {
  const { sentence, nextAction } = entry
  // What an owner of this version says is of the closed words; a suite of each holds that.
  if (sentence !== undefined && nextAction !== undefined)
    return { ...entry, sentence, nextAction } as Item
  // An earlier one has its sentence in the place of the reason, and the code in that of the channel.
  const { reason, channel, ...same } = entry
  return {
    ...same,
    sentence: reason ?? entry.status.replaceAll('_', ' '),
    nextAction: entry.checkoutUrl ? 'pay' : inFlight ? 'wait' : null,
    ...(channel ? { channelCode: channel } : {}),
  } as Item
}

/** Where a page ended: the next one begins below it, in the order (createdAt, id). */
type Cursor = { readonly createdAt: string; readonly id: string }

/** Those of all owners; Postgres takes neither a NUL byte nor half a surrogate pair as text. */
const ownId = /^[A-Za-z0-9_-]{1,200}$/
/** To `Date` 31 February is 3 March, to Postgres an error: what exists is spelt the same again. */
const isTimestamp = (text: string) => {
  const at = new Date(text)
  return at.getTime() >= 0 && at.toISOString() === text
}

/** Opaque to the app. */
const formatCursor = ({ createdAt, id }: Cursor): string =>
  Buffer.from(JSON.stringify([createdAt, id])).toString('base64url')

/** Reads a cursor back; undefined when we never gave it. */
export function parseCursor(text: string): Cursor | undefined {
  if (!/^[A-Za-z0-9_-]{1,400}$/.test(text)) return undefined
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
