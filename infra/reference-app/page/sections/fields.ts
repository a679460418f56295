import { isAddress } from 'viem'
import type { Currency } from '#shared/money/money'
import { money, type ReferenceApp } from '../app'
import { field, h, liveContent } from '../dom'
import { amountExample, bankOf, groupedText, numberText, parseAmount, shortNameOf } from '../format'

/** Terms of an amount in the smallest unit of its currency. They change with the user's country, balance and debt. */
export type AmountTerms = {
  readonly currency: Currency
  /** Label, by default the currency. */
  readonly label?: string
  /** Hint, by default the bounds. */
  readonly hint?: string | undefined
  readonly min?: string | undefined
  readonly max?: string | undefined
}

/** Amounts in the smallest unit that a button fills in. In AUSD that is the most that there is. */
const quickAmounts = {
  IDR: ['100000', '250000', '500000', '1000000'],
  MYR: ['5000', '10000', '20000', '50000'],
  AUSD: [],
} as const satisfies Readonly<Record<Currency, readonly string[]>>

/** Creates a field for an amount. It groups digits as they are typed, and refuses what is outside its terms. */
export function amountField(app: ReferenceApp, termsNow: () => AmountTerms) {
  const { t, language } = app
  const input = h('input', { inputmode: 'decimal', autocomplete: 'off' })
  const { element, read } = field('', input, ' ')
  const [label, hint] = [element.querySelector('label'), element.querySelector('.quiet')]
  const quick = h('span', { class: 'quick' })
  element.append(quick)

  let last = ''
  let suggested = ''
  input.addEventListener('input', () => {
    const isAtEnd = input.selectionStart === input.value.length
    if (isAtEnd) input.value = groupedText(last, input.value, termsNow().currency, language)
    last = input.value
  })
  const enter = (minor: string, currency: Currency) => {
    input.value = last = numberText(minor, currency, language)
    // An offer for another amount is withdrawn as if this one had been typed.
    input.dispatchEvent(new Event('input', { bubbles: true }))
  }
  const button = (text: string, minor: string, currency: Currency) => {
    const click = () => {
      enter(minor, currency)
      input.focus()
    }
    return h('button', { type: 'button', class: 'small', click }, text)
  }
  const showQuick = liveContent(quick, (terms: AmountTerms) => {
    const { currency, max } = terms
    const most = currency === 'AUSD' && max !== undefined && max !== '0'
    return [
      ...quickAmounts[currency]
        .filter((minor) => isWithin(minor, terms))
        .map((minor) => button(money(app, minor, currency), minor, currency)),
      most && button(t.most, max, currency),
    ]
  })

  const rangeText = ({ currency, min, max }: AmountTerms): string => {
    const text = (minor: string) => money(app, minor, currency)
    if (min !== undefined && max !== undefined) return t.fromTo(text(min), text(max))
    if (min !== undefined) return t.atLeast(text(min))
    return max === undefined ? t.forExample(amountExample(currency, language)) : t.atMost(text(max))
  }
  const update = () => {
    const terms = termsNow()
    if (label) label.textContent = terms.label ?? t.amountIn(terms.currency)
    if (hint) hint.textContent = terms.hint ?? rangeText(terms)
    showQuick(terms)
  }
  update()
  return {
    element,
    update,
    /** Enters an amount in the currency of the terms. */
    enter: (minor: string) => enter(minor, termsNow().currency),
    /** Enters an amount unless the user has entered another one. */
    suggest: (minor: string) => {
      const text = numberText(minor, termsNow().currency, language)
      if (input.value !== suggested || text === suggested) return
      suggested = text
      enter(minor, termsNow().currency)
    },
    read: () => {
      const terms = termsNow()
      const { currency } = terms
      const minor = read(
        (text) => parseAmount(text, currency, language),
        t.notAnAmount(amountExample(currency, language)),
      )
      return read(() => (isWithin(minor, terms) ? minor : undefined), rangeText(terms))
    },
  }
}

const isWithin = (minor: string, { min, max }: AmountTerms): boolean =>
  BigInt(minor) >= BigInt(min ?? 1) && (max === undefined || BigInt(minor) <= BigInt(max))

/** Creates a field for a bank. The browser filters the list by the typed text. */
export function bankField({ t, config }: ReferenceApp) {
  const { banks } = config.cashouts
  const find = (text: string) => bankOf(banks, text)
  const input = h('input', { list: 'banks', autocomplete: 'off' })
  input.addEventListener('change', () => {
    input.value = find(input.value)?.name ?? input.value
  })
  const { element, read } = field(t.bank, input, t.bankHint)
  const options = banks.map((bank) => h('option', { value: bank.name }, shortNameOf(bank)))
  element.append(h('datalist', { id: 'banks' }, options))
  return { element, input, read: () => read(find, t.chooseBank) }
}

export function walletField({ t }: ReferenceApp, value = '') {
  const input = h('input', { value, autocomplete: 'off', spellcheck: 'false' })
  const { element, read } = field(t.toWallet, input)
  return {
    element,
    read: () => read((text) => (isAddress(text, { strict: false }) ? text : undefined), t.notAWallet),
  }
}
