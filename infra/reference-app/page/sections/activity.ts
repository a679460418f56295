import { type Item, type Language, okOf } from '#shared/client/client'
import { accountText, channelTexts, kindTexts, receiptRows, statusTexts } from '#shared/language/receipt'
import { type PageSection, type ReferenceApp, time } from '../app'
import { facts, fill, h, keyedList } from '../dom'
import { faultText, step } from '../step'
import { amountsOf, orderCard } from './offer'

export const pageItems = 20

/** Returns each item once: at its first place, as it was last read. */
const onceEach = <T extends Pick<Item, 'id'>>(items: readonly T[]): readonly T[] => [
  ...new Map(items.map((item) => [item.id, item])).values(),
]

/** Adds the newest items. They push others off the first page, but those stay listed. */
export const withNewest = <T extends Pick<Item, 'id'>>(known: readonly T[], firstPage: readonly T[]) =>
  onceEach([...firstPage, ...known, ...firstPage])

export const withOlder = <T extends Pick<Item, 'id'>>(known: readonly T[], page: readonly T[]) =>
  onceEach([...known, ...page])

export function activitySection(app: ReferenceApp): PageSection {
  const { t, client } = app
  const list = h('div', { class: 'cards' })
  const none = h('p', {}, t.nothingYet)
  const show = keyedList<Item>(list, (item) => row(app, item))
  let known: readonly Item[] = []
  /** Cursor after the pages that the user requested. */
  let cursor: string | null | undefined
  const more = step(
    app,
    t.showOlder,
    [],
    async () => {
      const from = cursor ?? app.activity.nextCursor ?? undefined
      const page = okOf(await client.activity({ limit: pageItems, cursor: from }))
      known = withOlder(known, page.items)
      cursor = page.nextCursor
      update()
      return undefined
    },
    '',
  )
  const update = () => {
    const { items, nextCursor } = app.activity
    known = withNewest(known, items)
    show(known)
    none.hidden = items.length > 0
    more.element.hidden = (cursor === undefined ? nextCursor : cursor) === null
  }
  update()
  return { slug: 'activity', element: h('div', {}, none, list, more.element), update }
}

function row(app: ReferenceApp, first: Item) {
  let item = first
  let shown = ''
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
  const update = (next: Item) => {
    if (shown === next.updatedAt) return
    item = next
    shown = next.updatedAt
    const isOpen = app.activity.inFlight.some(({ id }) => id === item.id)
    const sentence = h('span', isOpen ? {} : { class: 'quiet' }, item.sentence)
    fill(summary, h('strong', {}, kindTexts[item.kind][app.language]), ` ${amountsOf(app, item)} `, sentence)
    void load()
  }
  return { element, update }
}

const channelOf = ({ channel, channelCode }: Item, language: Language) =>
  channel && channel !== 'unknown' ? channelTexts[channel][language] : channelCode

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
    [t.status, statusTexts[item.status as keyof typeof statusTexts]?.[app.language] ?? item.status],
    [t.channel, channelOf(item, app.language)],
    [receiptRows.bank[app.language], item.bank && accountText(item.bank)],
    [t.toWallet, item.to],
    [t.opened, time(app, item.createdAt)],
    [t.changed, time(app, item.updatedAt)],
    [t.transaction, item.txHash],
    [t.id, item.id],
  ])
  return [...(item.checkoutUrl ? [orderCard(app, item)] : []), rows, receipt.element]
}
