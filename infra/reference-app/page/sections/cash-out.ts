import { okOf, signTransfer } from '#shared/client/client'
import { receiptRows } from '#shared/language/receipt'
import { exactWorth, money, type PageSection, type ReferenceApp, worth } from '../app'
import { forBank } from '../conversion'
import { field, h } from '../dom'
import { cashoutFor, currencyNames, groupsOf, type PayoutPrice } from '../format'
import { place, resume, step } from '../step'
import { ausdField, bankField, localTerms, walletField } from './fields'
import { recentOrders, showOffer } from './offer'
import { showReview } from './review'
import { verifiedOnly } from './verified-only'

/** Time for the service to take the AUSD, in seconds. The service requires at least five minutes. */
const validForSeconds = 3_600n

/** Signs a transfer. `micro` is in 10⁻⁶ AUSD. */
const authorize = async (app: ReferenceApp, to: `0x${string}`, micro: string) =>
  signTransfer(app.account, app.config.chain.ausd.domain, {
    to,
    valueMicro: BigInt(micro),
    validBefore: (await app.chain.nowSeconds()) + validForSeconds,
  })

const tones = { match: 'good', no_match: 'bad', cannot_tell: 'quiet' } as const

/** Returns the most AUSD (10⁻⁶) of a cash-out: the balance, or what a limit of the day leaves if that is less. */
export function mostOf({ me, config }: Pick<ReferenceApp, 'me' | 'config'>, price: PayoutPrice | undefined): string {
  const whileClosed = price?.reason === 'market_closed' ? config.cashouts.marketClosed?.dayAusdMax : undefined
  const limits = [me.limits.cashout?.left, whileClosed].filter((limit) => limit !== undefined)
  return limits.reduce((least, limit) => (BigInt(limit) < BigInt(least) ? limit : least), me.balance.ausd)
}

export function cashOutSection(app: ReferenceApp): PageSection {
  const { t, config } = app
  const bank = bankField(app)
  const number = field(t.accountNumber, h('input', { inputmode: 'numeric', autocomplete: 'off' }), t.testAccounts)
  const holder = field(t.accountHolder, h('input', { autocomplete: 'name' }))
  const { currency, min } = config.cashouts
  const termsAt = (price: PayoutPrice | undefined) => ({
    currency,
    label: t.bankGetsIn(currencyNames[currency]),
    min,
    conversion: price && forBank(price),
    mostMicro: mostOf(app, price),
  })
  const amount = ausdField(app, () => termsAt(app.payout))

  const readBank = () => {
    const terms = bank.read()
    const { digitsMin, digitsMax, pattern } = terms.accountNumber
    return {
      channelCode: terms.code,
      accountNumber: number.read(
        (text) => (new RegExp(pattern).test(text) ? text : undefined),
        t.accountDigits(digitsMin, digitsMax),
      ),
      accountHolderName: holder.read((text) => text || undefined, t.enterName),
    }
  }
  const account = [bank, number, holder]
  const textOfAccount = () => account.map(({ input }) => input.value).join('\n')
  /** Account that the bank denied last, with what it said. */
  let denied: { account: string; sentence: string } | undefined
  const verdict = step(
    app,
    t.checkAccount,
    account.map(({ element }) => element),
    async () => {
      const asked = textOfAccount()
      const { verdict, sentence } = okOf(await app.client.checkAccount({ bank: readBank() }))
      if (verdict === 'no_match') denied = { account: asked, sentence }
      // A verdict is shown only for the account that it is about.
      return asked === textOfAccount() ? { text: sentence, tone: tones[verdict] } : undefined
    },
    '',
  )
  const identity = verifiedOnly(app, verdict.button, t.checkWhenVerified)
  verdict.button.before(identity.note)
  for (const { input } of account) input.addEventListener('input', verdict.clear)
  const offer = h('div')
  const ask = step(app, t.getPrice, [amount.element], async () => {
    const to = readBank()
    amount.check()
    const quote = okOf(await app.client.quote(config.cashouts.pair, 'pay_out'))
    offer.replaceChildren()
    if (quote.reason === 'market_closed' && !config.cashouts.marketClosed) return t.noCashOutRate
    const value = amount.read(termsAt(quote))
    const { fee, fiat } = cashoutFor(value, quote)
    if (BigInt(fiat) < BigInt(min)) return { text: t.atLeast(money(app, min, currency)), tone: 'bad' }
    showOffer(app, offer, {
      quote,
      rows: [
        [t.youGive, exactWorth(app, value)],
        ...(quote.cashoutFee ? [[receiptRows.fee[app.language], money(app, fee, currency)] as const] : []),
        [t.bankGets, money(app, fiat, currency)],
        [t.toAccount, `${bank.read().name} ${to.accountNumber}, ${to.accountHolderName}`],
      ],
      warning: denied?.account === textOfAccount() ? denied.sentence : undefined,
      label: t.signCashOut,
      forms: [verdict.element, ask.element],
      run: async (say) => {
        const authorization = await authorize(app, config.chain.treasury, value)
        const body = { quoteId: quote.id, authorization, bank: to }
        await place(app, { kind: 'cashout', body }, say)
      },
      done: t.accepted,
    })
    return undefined
  })
  resume(app, 'cashout', ask, t.accepted)
  const balance = h('p')
  const recent = recentOrders(app, 'cashout')
  const update = () => {
    identity.update()
    balance.textContent = t.balanceIs(worth(app, app.me.balance.ausd))
    amount.update()
    recent.update()
  }
  update()
  const element = h('div', {}, balance, h('p', {}, t.cashOutIntro), verdict.element, ask.element, offer, recent.element)
  return { slug: 'cash-out', element, update }
}

export function sendSection(app: ReferenceApp): PageSection {
  const { t } = app
  const to = walletField(app)
  const amount = ausdField(app, () => localTerms(app, { rounding: 'down', mostMicro: app.me.balance.ausd }))
  const review = h('div')
  const ask = step(app, t.continue, [to.element, amount.element], async () => {
    const [recipient, micro] = [to.read(), amount.read()]
    showReview(app, review, {
      rows: [
        [t.amount, exactWorth(app, micro)],
        [t.toAccount, groupsOf(recipient)],
        [t.gas, t.hasGas],
      ],
      label: t.signSend,
      forms: [ask.element],
      run: async (say) => {
        const authorization = await authorize(app, recipient, micro)
        await place(app, { kind: 'send', body: { authorization } }, say)
      },
      done: t.accepted,
    })
    return undefined
  })
  const form = h('div', {}, ask.element, review)
  resume(app, 'send', ask, t.accepted)
  const identity = verifiedOnly(app, form)
  const recent = recentOrders(app, 'send')
  const update = () => {
    identity.update()
    amount.update()
    recent.update()
  }
  const element = h('div', {}, h('p', {}, t.sendIntro), identity.note, form, recent.element)
  return { slug: 'send', element, update }
}
