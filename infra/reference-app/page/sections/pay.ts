import { okOf } from '#shared/client/client'
import { channelTexts, receiptRows } from '#shared/language/receipt'
import { exactWorth, isOverdue, localOf, money, type PageSection, type ReferenceApp, worth } from '../app'
import { choice, h } from '../dom'
import { ausdFor, durationText, fiatFor, inCents, type TopupOffer, topupFor } from '../format'
import { place, resume, step } from '../step'
import { autoRepayPart } from './auto-repay'
import { amountField, ausdField, localTerms } from './fields'
import { recentOrders, showOffer } from './offer'
import { showReview } from './review'
import { verifiedOnly } from './verified-only'

export function topUpSection(app: ReferenceApp): PageSection {
  const { t, language, config } = app
  const held = durationText(config.hold.seconds, language)
  const method = choice(
    t.payBy,
    config.checkout.methods.map((name) => [name, t.methods[name]] as const),
  )
  const amount = amountField(app, () => {
    const { currency } = localOf(app)
    const limits = config.currencies.find((one) => one.currency === currency)?.topup
    return { currency, min: limits?.min, max: method.read() === 'card' ? limits?.cardMax : limits?.max }
  })
  method.element.addEventListener('change', amount.update)
  const offer = h('div')
  const ask = step(app, t.getPrice, [amount.element, method.element], async () => {
    const { currency, pair } = localOf(app)
    const minor = amount.read()
    const quote = okOf(await app.client.quote(pair))
    const ausd = ausdFor(minor, quote)
    const left = app.me.limits.topup?.left
    if (left !== undefined && BigInt(ausd) > BigInt(left))
      return { text: `${t.leftToTopUp}: ${worth(app, left)}`, tone: 'bad' }
    const body = { amount: minor, method: method.read(), quoteId: quote.id }
    // DuitNow has the fee of a bank transfer, which its payers would not expect.
    const wordOf = (channel: keyof typeof channelTexts) =>
      channelTexts[channel][language] + (channel === 'bank' && currency === 'MYR' ? ', DuitNow' : '')
    const labelOf = (channel: TopupOffer['channel']) => {
      if (channel === 'any') return t.youGet
      return t.youGetBy(channel === 'other' ? t.otherwise : wordOf(channel))
    }
    showOffer(app, offer, {
      quote,
      rows: [
        [t.youPay, money(app, minor, currency)],
        ...topupFor(minor, quote, body.method).map(({ channel, fee, rest, ausd }) => {
          const charged = fee === '0' ? '' : ` · ${receiptRows.fee[language]} ${money(app, fee, currency)}`
          const got = `${money(app, rest, currency)} (${money(app, inCents(ausd, 'down'))})`
          return [labelOf(channel), `${got}${charged}`] as const
        }),
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

/** Creates the section that repays all of the debt in local money, a part from collateral, or the debt automatically. */
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
        [t.owed, exactWorth(app, drawn, 'up')],
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
  const repayable = () => {
    const [debt, collateral] = [BigInt(app.me.drawn), BigInt(app.me.collateral.value)]
    return String(debt < collateral ? debt : collateral)
  }
  const form = chainForm(app, {
    kind: 'repayFromCollateral',
    rounding: 'up',
    max: repayable,
    label: t.repayPart,
    done: t.repaid,
  })
  const part = h('div', {}, h('h3', {}, t.payPart), h('p', {}, t.payPartIntro), form.element)
  const automatic = autoRepayPart(app)
  const update = () => {
    const { drawn, cycle } = app.me
    all.hidden = part.hidden = drawn === '0'
    const owed = drawn === '0' ? t.contractErrors.NothingOwed : t.debtIs(worth(app, drawn, 'up'))
    debt.textContent = [owed, cycle?.sentence].filter(Boolean).join(' ')
    debt.className = isOverdue(app.me) ? 'warning' : ''
    open.update()
    form.update()
    automatic.update()
  }
  update()
  const element = h('div', {}, debt, all, open.element, part, automatic.element)
  return { slug: 'repay', element, update }
}

export function borrowSection(app: ReferenceApp): PageSection {
  const { t } = app
  const available = h('p')
  const draw = chainForm(app, {
    kind: 'draw',
    rounding: 'down',
    max: () => app.me.available,
    label: t.borrow,
    done: t.borrowed,
  })
  const identity = verifiedOnly(app, draw.element)
  const refused = h('p', { class: 'warning' })
  const update = () => {
    identity.update()
    refused.textContent = whyRefused(app)
    available.textContent = t.availableIs(worth(app, app.me.available))
    draw.update()
  }
  update()
  const days = Math.round(app.config.credit.cycle.termSeconds / 86_400)
  const words = [t.borrowIntro, t.debtInDollars, t.borrowCost(days)].map((text) => h('p', {}, text))
  const element = h('div', {}, available, refused, ...words, identity.note, draw.element)
  return { slug: 'borrow', element, update }
}

/** Returns why the contract would lend nothing, and an empty text if it would. */
function whyRefused({ me, t }: ReferenceApp): string {
  if (me.defaulted) return t.contractErrors.AccountDefaulted
  if (me.frozen) return t.contractErrors.AccountFrozen
  return isOverdue(me) ? t.contractErrors.TermPassed : ''
}

type ChainForm = {
  readonly kind: 'draw' | 'repayFromCollateral'
  /** How its amounts are rounded in local money: a debt is rounded up. */
  readonly rounding: 'down' | 'up'
  /** Returns the most that the user can draw or repay, in 10⁻⁶ AUSD. */
  readonly max: () => string
  readonly label: string
  readonly done: string
}

function chainForm(app: ReferenceApp, { kind, rounding, max, label, done }: ChainForm) {
  const { t } = app
  const amount = ausdField(app, () => localTerms(app, { rounding, mostMicro: max() }))
  const review = h('div')
  const ask = step(app, t.continue, [amount.element], async () => {
    const micro = amount.read()
    showReview(app, review, {
      rows: [
        [t.amount, exactWorth(app, micro, rounding)],
        [t.gas, t.hasGas],
      ],
      label,
      forms: [ask.element],
      run: async (say) => place(app, await app.chain.sign({ kind, micro: BigInt(micro) }), say),
      done,
    })
    return undefined
  })
  resume(app, kind, ask, done)
  return { element: h('div', {}, ask.element, review), update: amount.update }
}
