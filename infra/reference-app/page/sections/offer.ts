import type { PostQuote } from '#shared/api/quotes'
import type { RouteAnswer } from '#shared/api/route'
import { type Item, okOf, serviceMs } from '#shared/client/client'
import { rateText, receiptRows } from '#shared/language/receipt'
import { fiatOf } from '#shared/money/pair'
import { inLocalMoney, localWorth, money, type ReferenceApp, time } from '../app'
import { h, liveContent } from '../dom'
import { inCents, percentText } from '../format'
import { step } from '../step'
import { type Review, showReview } from './review'

type Quote = RouteAnswer<typeof PostQuote>

/**
 * Shows an offer, which disappears when the quote ends, because the user confirms a price. A timer ends it, because the
 * device's clock may be wrong.
 */
export function showOffer(
  app: ReferenceApp,
  at: HTMLElement,
  { quote, ...review }: Review & { readonly quote: Quote },
): void {
  const { t, language } = app
  const { rate, reference, spreadBps, pair, expiresAt } = quote
  const currency = fiatOf(pair)
  const published = `${money(app, reference.rate, currency)} (${reference.source}, ${time(app, reference.asOf)})`
  const rows = [
    ...review.rows,
    [receiptRows.rate[language], rateText[language](money(app, rate, currency))],
    [t.reference, published],
    [t.spread, percentText(spreadBps, language)],
    [t.validUntil, time(app, expiresAt)],
  ] as const
  const end = showReview(app, at, { ...review, rows, hasOwnRate: true })
  setTimeout(() => end(t.offerEnded), app.config.quote.seconds * 1_000)
}

const recentMs = 60_000

export function recentOrders(app: ReferenceApp, kind: Item['kind']) {
  const element = h('div', { class: 'cards', role: 'status' })
  const show = liveContent(element, ({ items }: Pick<ReferenceApp, 'rate'> & { items: Item[] }) =>
    items.map((item) => orderCard(app, item)),
  )
  const update = () => {
    const { inFlight, items } = app.activity
    const since = serviceMs() - recentMs
    const recent = items.filter((item) => Date.parse(item.updatedAt) > since)
    const all = new Map([...inFlight, ...recent].map((item) => [item.id, item]))
    show({ items: [...all.values()].filter((item) => item.kind === kind), rate: app.rate })
  }
  update()
  return { element, update }
}

export function orderCard(app: ReferenceApp, item: Item): HTMLElement {
  const { t, client } = app
  const { id, kind, checkoutUrl, expiresAt } = item
  const cancel = async () => {
    const answer = kind === 'settlement' ? client.cancelSettlement(id) : client.cancelTopUp(id)
    return okOf(await answer).sentence
  }
  return h(
    'div',
    { class: 'card' },
    h('p', {}, h('strong', {}, amountsOf(app, item)), ` ${inLocalMoney(app, item.sentence)}`),
    checkoutUrl
      ? [
          h('a', { class: 'button main', href: checkoutUrl }, t.goToPayment),
          expiresAt && h('p', { class: 'quiet' }, t.openUntil(time(app, expiresAt))),
          step(app, t.cancel, [], cancel, '').element,
        ]
      : undefined,
  )
}

type Amounts = Pick<Item, 'kind' | 'fiat' | 'pair' | 'ausd' | 'channel'>

/**
 * Returns the amounts of an item, that in local money first. AUSD that was not exchanged is worth that at the page's rate.
 * `sign` stands before the first amount.
 */
export function amountList(app: ReferenceApp, item: Amounts, sign = ''): string[] {
  const ausd = money(app, inCents(item.ausd, 'down'))
  if (item.fiat && item.pair)
    return [`${sign}${money(app, item.fiat, fiatOf(item.pair))}`, ...(isBeforeFee(app, item) ? [] : [ausd])]
  const local = localWorth(app, item.ausd, 'down')
  return local === undefined ? [`${sign}${money(app, item.ausd)}`] : [app.t.roughly(`${sign}${local}`), ausd]
}

/** Returns true for a top-up that no channel was used for yet: its AUSD may be less by a fee. */
const isBeforeFee = ({ config }: ReferenceApp, { kind, pair, channel }: Amounts): boolean =>
  kind === 'topup' && channel === undefined && (config.quote.topupFees ?? []).some((fee) => fee.pair === pair)

export const amountsOf = (app: ReferenceApp, item: Amounts) => amountList(app, item).join(' · ')
