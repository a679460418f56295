import { type Item, okOf, serviceMs } from '#shared/client/client'
import {
  accountText,
  kindTexts,
  paidThrough,
  rateText,
  receiptRows,
  sourceTexts,
  statusText,
} from '#shared/language/receipt'
import { fiatOf } from '#shared/money/pair'
import { day, inLocalMoney, money, type PageSection, type ReferenceApp, time } from '../app'
import { facts, field, fill, h, keyedList, liveContent, select } from '../dom'
import { iconOf } from '../icons'
import { isOfStanding, type Standing, standings } from '../standing'
import { faultText, step } from '../step'
import { amountList, orderCard } from './offer'

export const pageItems = 20
/** Most pages that one choice or one press loads, so that a filter that matches nothing does not read everything. */
const pagesAtOnce = 10

/** Returns each item once: at its first place, as it was last read. */
const onceEach = <T extends Pick<Item, 'id'>>(items: readonly T[]): readonly T[] => [
  ...new Map(items.map((item) => [item.id, item])).values(),
]

/**
 * Returns true if the first page reaches the known items. If it does not, as after a long absence, items between them are
 * missing, which no later page has.
 */
export const reaches = <T extends Pick<Item, 'id'>>(firstPage: readonly T[], known: readonly T[]): boolean => {
  const ids = new Set(firstPage.map(({ id }) => id))
  return known.length === 0 || known.some(({ id }) => ids.has(id))
}

/** Adds the newest items. They push others off the first page, but those stay listed. */
export const withNewest = <T extends Pick<Item, 'id'>>(known: readonly T[], firstPage: readonly T[]) =>
  onceEach([...firstPage, ...known, ...firstPage])

export const withOlder = <T extends Pick<Item, 'id'>>(known: readonly T[], page: readonly T[]) =>
  onceEach([...known, ...page])

/** Periods of the list, in days. */
const periods = [7, 30, 90]

/** Returns true if the time is within the last days. Every time is if there is no number of days. */
export const isWithin = (at: string, days: number | undefined, nowMs: number): boolean =>
  days === undefined || nowMs - Date.parse(at) < days * 86_400_000

type Kind = Item['kind']
const kinds = Object.keys(kindTexts) as Kind[]
/** A heading of the list: the day of the items below it. */
type Day = { readonly id: string; readonly day: string }

/** Puts a heading before the first item of each day. `dayOf` writes the day of a time. */
export const withDays = <T extends Pick<Item, 'id' | 'createdAt'>>(
  items: readonly T[],
  dayOf: (at: string) => string,
) =>
  items.flatMap((item, at): (T | Day)[] => {
    const day = dayOf(item.createdAt)
    const before = items[at - 1]
    return before && dayOf(before.createdAt) === day ? [item] : [{ id: day, day }, item]
  })

export function activitySection(app: ReferenceApp): PageSection {
  const { t, client, language } = app
  const list = h('div', { class: 'cards' })
  const none = h('p', {}, t.nothingYet)
  const show = keyedList<Item | Day>(list, (one) =>
    'day' in one ? { element: h('h3', {}, one.day), update: () => {} } : row(app, one),
  )
  const kind = select([['', t.everything], ...kinds.map((one) => [one, kindTexts[one][language]] as const)])
  const standing = select([['', t.everything], ...standings.map((one) => [one, t.standings[one]] as const)])
  const period = select([['', t.anyTime], ...periods.map((days) => [String(days), t.lastDays(days)] as const)])
  const isInPeriod = ({ createdAt }: Item): boolean =>
    isWithin(createdAt, period.value === '' ? undefined : Number(period.value), serviceMs())
  const isShown = (item: Item): boolean =>
    isInPeriod(item) &&
    (kind.value === '' || kind.value === item.kind) &&
    (standing.value === '' || isOfStanding(item, isOpen(app, item.id), standing.value as Standing))
  const dayOf = (at: string) => day(app, at)
  let known: readonly Item[] = []
  let shownCount = 0
  /** Number of items that were shown when the user chose, or asked for older ones. */
  let shownBefore = 0
  /** Cursor after the pages that the user requested. */
  let cursor: string | null | undefined
  /** Number of times that the list has begun again. */
  let beginnings = 0
  /** Returns true if the period may have items that are not loaded. */
  const isMore = (): boolean => {
    const oldest = known.at(-1)
    const isAtEnd = (cursor === undefined ? app.activity.nextCursor : cursor) === null
    return !isAtEnd && (oldest === undefined || isInPeriod(oldest))
  }
  /** A period is loaded whole, and other choices until something more is shown. */
  const wantsMore = (): boolean => isMore() && (period.value !== '' || shownCount <= shownBefore)
  const loadOlder = async () => {
    for (let pages = 1; ; pages++) {
      const before = beginnings
      const from = cursor ?? app.activity.nextCursor ?? undefined
      const page = okOf(await client.activity({ limit: pageItems, cursor: from }))
      // A page does not follow a list that has begun again since.
      if (before === beginnings) {
        known = withOlder(known, page.items)
        cursor = page.nextCursor
      }
      update()
      if (pages === pagesAtOnce || !wantsMore()) return undefined
    }
  }
  const more = step(
    app,
    t.showOlder,
    [],
    () => {
      shownBefore = shownCount
      return loadOlder()
    },
    '',
  )
  const choose = () => {
    shownBefore = 0
    update()
    if (wantsMore()) void more.start(loadOlder)
  }
  for (const one of [kind, standing, period]) one.addEventListener('change', choose)
  const update = () => {
    if (!reaches(app.activity.items, known)) {
      known = []
      cursor = undefined
      beginnings += 1
    }
    known = withNewest(known, app.activity.items)
    const shown = known.filter(isShown)
    shownCount = shown.length
    show(withDays(shown, dayOf))
    none.textContent = known.length > 0 ? t.noneOfThese : t.nothingYet
    none.hidden = shown.length > 0
    more.element.hidden = !isMore()
  }
  update()
  const filters = [field(t.kind, kind), field(t.status, standing), field(t.period, period)]
  const fields = h(
    'div',
    { class: 'filters' },
    filters.map((one) => one.element),
  )
  const element = h('div', {}, fields, none, list, more.element)
  return { slug: 'activity', element, update }
}

const isOpen = ({ activity }: ReferenceApp, id: string): boolean => activity.inFlight.some((item) => item.id === id)

/** Sign of an item in the user's account: money that came in, or money that left. */
const signOf = { topup: '+', settlement: '−', cashout: '−', send: '−', autorepay: '−' } as const satisfies Record<
  Kind,
  string
>

function row(app: ReferenceApp, first: Item) {
  const { language } = app
  let item = first
  const detail = h('div')
  const load = async () => {
    if (!element.open) return
    try {
      fill(detail, detailOf(app, okOf(await app.client.item(item.id))))
    } catch (error) {
      fill(detail, h('p', { role: 'status', 'data-tone': 'bad' }, faultText(app.t, error)))
    }
  }
  const summary = h('summary')
  const element = h('details', { class: 'card', toggle: () => void load() }, summary, detail)
  const show = liveContent(summary, ({ isOpen }: Pick<ReferenceApp, 'rate'> & { item: Item; isOpen: boolean }) => {
    void load()
    const [sum, ausd] = amountList(app, item, signOf[item.kind])
    const state = h('span', { class: toneOf(item, isOpen) }, statusText(item, language))
    return [
      iconOf(item.kind),
      h('strong', {}, kindTexts[item.kind][language]),
      h('span', { class: 'sum' }, sum),
      h('small', {}, state, ausd && ` · ${ausd}`, isOpen && ` · ${inLocalMoney(app, item.sentence)}`),
    ]
  })
  const update = (next: Item | Day) => {
    if ('day' in next) return
    item = next
    show({ item, isOpen: isOpen(app, item.id), rate: app.rate })
  }
  return { element, update }
}

/** What the user must act on stands out, and what has ended is quiet. */
const toneOf = ({ nextAction }: Item, isOpen: boolean): string => {
  if (nextAction === 'contact support') return 'urgent'
  return isOpen ? 'current' : 'quiet'
}

function detailOf(app: ReferenceApp, item: Item): HTMLElement[] {
  const { t } = app
  const receipt = step(
    app,
    t.receipt,
    [],
    async () => {
      const page = okOf(await app.client.receipt(item.id))
      const url = URL.createObjectURL(new Blob([page], { type: 'text/html' }))
      if (!window.open(url)) location.assign(url)
      return undefined
    },
    'small',
  )
  const rows = facts([
    [t.status, statusText(item, app.language)],
    [t.channel, paidThrough(item, app.language) ?? item.channelCode],
    [receiptRows.bankReceipt[app.language], item.bankReceipt],
    [receiptRows.fee[app.language], item.fee && item.pair && money(app, item.fee, fiatOf(item.pair))],
    [
      receiptRows.rate[app.language],
      item.rate && item.pair && rateText[app.language](money(app, item.rate, fiatOf(item.pair))),
    ],
    [receiptRows.bank[app.language], item.bank && accountText(item.bank)],
    [receiptRows.source[app.language], item.source && sourceTexts[item.source][app.language]],
    [t.toWallet, item.to],
    [t.opened, time(app, item.createdAt)],
    [t.changed, time(app, item.updatedAt)],
    [t.transaction, item.txHash],
    [t.id, item.id],
  ])
  return [item.checkoutUrl ? orderCard(app, item) : h('p', {}, inLocalMoney(app, item.sentence)), rows, receipt.element]
}
