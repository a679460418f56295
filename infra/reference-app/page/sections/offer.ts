import type { PostQuote } from '#shared/api/quotes'
import type { RouteAnswer } from '#shared/api/route'
import { type Item, okOf } from '#shared/client/client'
import { fiatOf } from '#shared/money/pair'
import { money, type ReferenceApp, time } from '../app'
import { facts, fill, h, liveContent } from '../dom'
import { percentText } from '../format'
import { type ShowProgress, step } from '../step'

type Quote = RouteAnswer<typeof PostQuote>

/**
 * Shows an offer, which disappears when the quote ends, because the user confirms a price. A timer ends it, because the
 * device's clock may be wrong.
 */
export function showOffer(
  app: ReferenceApp,
  at: HTMLElement,
  offer: {
    readonly quote: Quote
    readonly rows: readonly (readonly [string, string])[]
    readonly label: string
    readonly note?: string | undefined
    readonly run: (say: ShowProgress) => Promise<void>
    readonly done: string
  },
): void {
  const { t, language } = app
  const { rate, reference, spreadBps, pair, expiresAt } = offer.quote
  const currency = fiatOf(pair)
  const published = `${money(app, reference.rate, currency)} (${reference.source}, ${time(app, reference.asOf)})`
  let isTaken = false
  let isOver = false
  const order = step(app, offer.label, [], async (say) => {
    isTaken = true
    await offer.run(say).finally(() => {
      isTaken = false
      end()
    })
    fill(at, h('p', { class: 'result', role: 'status', 'data-tone': 'good' }, offer.done))
    return offer.done
  })
  const price = facts([
    ...offer.rows,
    [t.rate, t.perDollar(money(app, rate, currency))],
    [t.reference, published],
    [t.spread, percentText(spreadBps, language)],
    [t.validUntil, time(app, expiresAt)],
  ])
  const panel = h('div', { class: 'offer' }, price)
  const heading = h('h3', { tabindex: -1 }, t.offer)
  fill(at, heading, panel, offer.note && h('p', { class: 'note' }, offer.note), order.element)
  heading.focus() // A screen reader reads the offer next.
  setTimeout(() => {
    isOver = true
    end()
  }, app.config.quote.seconds * 1_000)

  /** Ends the offer. A refusal stays shown. */
  function end(): void {
    if (isTaken || !isOver || !panel.isConnected) return
    order.button.remove()
    fill(at, h('p', { class: 'result', role: 'status' }, t.offerEnded), order.element)
  }
}

const recentMs = 60_000

export function recentOrders(app: ReferenceApp, kind: Item['kind']) {
  const element = h('div', { class: 'cards', role: 'status' })
  const show = liveContent(element, (items: Item[]) => items.map((item) => orderCard(app, item)))
  const update = () => {
    const { inFlight, items } = app.activity
    const since = Date.now() - recentMs
    const recent = items.filter((item) => Date.parse(item.updatedAt) > since)
    const all = new Map([...inFlight, ...recent].map((item) => [item.id, item]))
    show([...all.values()].filter((item) => item.kind === kind))
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
    h('p', {}, h('strong', {}, amountsOf(app, item)), ` ${item.sentence}`),
    checkoutUrl
      ? [
          h('a', { class: 'button main', href: checkoutUrl }, t.goToPayment),
          expiresAt && h('p', { class: 'quiet' }, t.openUntil(time(app, expiresAt))),
          step(app, t.cancel, [], cancel, '').element,
        ]
      : undefined,
  )
}

export const amountsOf = (app: ReferenceApp, { fiat, pair, ausd }: Pick<Item, 'fiat' | 'pair' | 'ausd'>) =>
  [fiat && pair ? money(app, fiat, fiatOf(pair)) : undefined, money(app, ausd)].filter(Boolean).join(' · ')
