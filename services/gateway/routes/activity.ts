import { joinReads } from '#platform/reads'
import { cursorForm, GetActivity, GetActivityItem, itemIds, ownId, pageItemsDefault } from '#shared/api/activity'
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
import { serve } from '../http/serve'
import { type Wording, withSupport } from '../http/support'
import { newestFirst } from '../reminders/activity'
import type { Access } from '../sign-in/access'

/** Wait before a page is read again, in ms, so that more requests share its queries. */
const collectMs = 1

/** Serves the activity. It fails unless all owners respond, because a partial list would mislead. */
export const activityRoute = ({ ask, autoRepayments, config }: Context, access: Access) => {
  const read = async ({ wallet, limit, before, language }: ActivityRequest) => {
    const asked = { wallet, limit: limit + 1, ...(before ? { before } : {}) }
    const [own, ...answers] = await Promise.all([
      autoRepayments.page(asked),
      ask(PaymentsActivity, asked),
      ask(PayoutsActivity, asked),
      ask(ChainActivity, asked),
    ])
    return tagged(mergeActivity([own, ...answers.map(okOf)], limit, { language, contact: config.supportContact }))
  }
  // A new order must be in the list at once, so a page is never older than its request.
  const keyOf = ({ wallet, limit, before, language }: ActivityRequest) =>
    [wallet, limit, before?.createdAt, before?.id, language].join()
  const page = joinReads(read, keyOf, collectMs)
  return serve(access, GetActivity, async ({ request, set, wallet }) => {
    const language = languageFor({ request, set })
    const asked = { wallet, language, ...pageOf(request.url) }
    return answerTagged({ request, set }, await inTime(page(asked), 'the activity'))
  })
}

const owners = [
  { id: itemIds.payment, question: PaymentsItem },
  { id: itemIds.cashout, question: PayoutsItem },
  { id: itemIds.send, question: ChainItem },
] as const
export const noSuchItem = () => new Refused(404, [{ code: 'item_not_found' }])

export const openItems =
  ({ ask, autoRepayments }: Pick<Context, 'ask' | 'autoRepayments'>) =>
  async (wallet: `0x${string}`, id: string): Promise<ActivityEntry> => {
    const item = await inTime(find(), 'the item')
    if (!item) throw noSuchItem()
    return item

    async function find(): Promise<ActivityEntry | null> {
      if (itemIds.autorepay.test(id)) return autoRepayments.item(wallet, id)
      const owner = owners.find((one) => one.id.test(id))
      return owner ? okOf(await ask(owner.question, { wallet, id })).item : null
    }
  }

/** Serves one item. Unknown ids, malformed ids and ids of other wallets get the same answer. */
export const activityItemRoute = (context: Context, access: Access) => {
  const find = openItems(context)
  const wordingFor = (exchange: Exchange) => ({
    language: languageFor(exchange),
    contact: context.config.supportContact,
  })
  return serve(access, GetActivityItem, async ({ request, params, set, wallet }) =>
    answerTagged({ request, set }, tagged(itemOf(await find(wallet, params.id), wordingFor({ request, set })))),
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
  const limit = query.get('limit') ?? String(pageItemsDefault)
  if (!/^([1-9][0-9]?|100)$/.test(limit)) throw badRequest({ code: 'limit_range' })
  const text = query.get('cursor')
  if (text === null) return { limit: Number(limit) }
  const before = parseCursor(text)
  if (!before) throw badRequest({ code: 'cursor_invalid' })
  return { limit: Number(limit), before }
}

type ActivityPage = RouteAnswer<typeof GetActivity>
type Item = ActivityPage['items'][number]

/** Merges the answers into a page. Each owner was asked for one entry more than the page holds. */
function mergeActivity(answers: readonly ActivityAnswer[], limit: number, wording: Wording): ActivityPage {
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

/** Returns an item without `inFlight`, which the list already shows. */
const shown = (entry: ActivityEntry, wording: Wording) => {
  const { inFlight, ...item } = itemOf(entry, wording)
  return item as Item
}

/** Position of a page's last entry, in the order (createdAt, id). */
type Cursor = { readonly createdAt: string; readonly id: string }

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
