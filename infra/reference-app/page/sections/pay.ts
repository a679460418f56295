import { okOf } from '#shared/client/client'
import { localOf, money, type PageSection, type ReferenceApp } from '../app'
import { choice, h } from '../dom'
import { ausdFor, durationText, fiatFor } from '../format'
import { place, resume, step } from '../step'
import { amountField } from './fields'
import { recentOrders, showOffer } from './offer'
import { showReview } from './review'
import { verifiedOnly } from './verified-only'

export function topUpSection(app: ReferenceApp): PageSection {
  const { t, language, config } = app
  const held = durationText(config.hold.seconds, language)
  const amount = amountField(app, () => localOf(app).currency)
  const method = choice(
    t.payBy,
    config.checkout.methods.map((name) => [name, t.methods[name]] as const),
  )
  const offer = h('div')
  const ask = step(app, t.getPrice, [amount.element, method.element], async () => {
    const { currency, pair } = localOf(app)
    const minor = amount.read()
    const quote = okOf(await app.client.quote(pair))
    const body = { amount: minor, method: method.read(), quoteId: quote.id }
    showOffer(app, offer, {
      quote,
      rows: [
        [t.youPay, money(app, minor, currency)],
        [t.about, money(app, ausdFor(minor, quote))],
      ],
      label: t.openCheckout,
      note: body.method === 'card' ? t.hold(held) : undefined,
      forms: [ask.element],
      run: (say) => place(app, { kind: 'topup', body }, say),
      done: t.accepted,
    })
    return undefined
  })
  const hold = h('p', { class: 'note' }, t.holdIntro(held))
  const form = h('div', {}, hold, ask.element, offer)
  const identity = verifiedOnly(app, form)
  const open = recentOrders(app, 'topup')
  resume(app, 'topup', ask, t.accepted)
  const element = h('div', {}, h('p', {}, t.topUpIntro), identity.note, form, open.element)
  const update = () => {
    identity.update()
    amount.update()
    open.update()
  }
  return { slug: 'top-up', element, update }
}

/** Creates the section that repays all of the debt in local money, or a part from collateral. */
export function repaySection(app: ReferenceApp): PageSection {
  const { t } = app
  const debt = h('p')
  const offer = h('div')
  const ask = step(app, t.getPrice, [], async () => {
    const { currency, pair } = localOf(app)
    const quote = okOf(await app.client.quote(pair))
    const { drawn } = app.me
    showOffer(app, offer, {
      quote,
      rows: [
        [t.owed, money(app, drawn)],
        [t.youPay, money(app, fiatFor(drawn, quote, 'up'), currency)],
      ],
      label: t.openCheckout,
      forms: [ask.element],
      run: (say) => place(app, { kind: 'settlement', body: { quoteId: quote.id } }, say),
      done: t.accepted,
    })
    return undefined
  })
  const open = recentOrders(app, 'settlement')
  resume(app, 'settlement', ask, t.accepted)
  const all = h('div', {}, h('h3', {}, t.payAll), h('p', {}, t.payAllIntro), ask.element, offer)
  const form = chainForm(app, 'repayFromCollateral', t.repayPart, t.repaid)
  const part = h('div', {}, h('h3', {}, t.payPart), h('p', {}, t.payPartIntro), form)
  const update = () => {
    const { drawn, cycle } = app.me
    all.hidden = part.hidden = drawn === '0'
    debt.textContent = [t.debtIs(money(app, drawn)), cycle?.sentence].filter(Boolean).join(' ')
    open.update()
  }
  update()
  const element = h('div', {}, debt, all, open.element, part)
  return { slug: 'repay', element, update }
}

export function borrowSection(app: ReferenceApp): PageSection {
  const { t } = app
  const available = h('p')
  const draw = chainForm(app, 'draw', t.borrow, t.borrowed)
  const identity = verifiedOnly(app, draw)
  const update = () => {
    identity.update()
    available.textContent = t.availableIs(money(app, app.me.available))
  }
  update()
  const days = Math.round(app.config.credit.cycle.termSeconds / 86_400)
  const words = [t.borrowIntro, t.borrowCost(days)].map((text) => h('p', {}, text))
  const element = h('div', {}, available, ...words, identity.note, draw)
  return { slug: 'borrow', element, update }
}

function chainForm(app: ReferenceApp, kind: 'draw' | 'repayFromCollateral', label: string, done: string) {
  const { t } = app
  const amount = amountField(app, () => 'AUSD')
  const review = h('div')
  const ask = step(app, t.continue, [amount.element], async () => {
    const micro = amount.read()
    showReview(app, review, {
      rows: [
        [t.amount, money(app, micro)],
        [t.gas, t.hasGas],
      ],
      label,
      forms: [ask.element],
      run: async (say) => place(app, await app.chain.sign(kind, BigInt(micro)), say),
      done,
    })
    return undefined
  })
  resume(app, kind, ask, done)
  return h('div', {}, ask.element, review)
}
