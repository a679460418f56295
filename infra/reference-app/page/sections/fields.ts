import { isAddress } from 'viem'
import type { Currency } from '#shared/money/money'
import { about, money, type ReferenceApp } from '../app'
import { atRate } from '../conversion'
import { field, h, liveContent } from '../dom'
import { type Entry, type EntryTerms, entryOf, keptEntry, microOf } from '../entry'
import { amountExample, bankOf, groupedText, inCents, numberText, parseAmount, shortNameOf } from '../format'

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

/** Terms of an amount of AUSD. It is typed in local money while there is a rate. A button enters the most exactly. */
export type AusdTerms = Omit<AmountTerms, 'max'> & EntryTerms

type Terms = AmountTerms & AusdTerms

/** Returns the terms of an amount that is typed in the user's money, or in AUSD while there is no rate. */
export function localTerms(
  { rate }: Pick<ReferenceApp, 'rate'>,
  { rounding, mostMicro }: { rounding: 'down' | 'up'; mostMicro?: string | undefined },
): AusdTerms {
  const conversion = rate && atRate(rate, rounding)
  return { currency: conversion?.currency ?? 'AUSD', conversion, mostMicro }
}

/** Amounts in the smallest unit that a button fills in, as far as there is a maximum. */
const quickAmounts = {
  IDR: ['100000', '250000', '500000', '1000000'],
  MYR: ['5000', '10000', '20000', '50000'],
  AUSD: [],
} as const satisfies Readonly<Record<Currency, readonly string[]>>

/** Event of a field whose amount is worth another sum than before, because the rate or the currency changed. */
export const reconverted = 'reconverted'

/** Creates a field for an amount that is charged in the currency in which it is typed. */
export function amountField(app: ReferenceApp, termsNow: () => AmountTerms) {
  const { element, update, readMinor } = typedAmount(app, termsNow)
  return { element, update, read: readMinor }
}

/** Creates a field for an amount of AUSD. It shows the AUSD for an amount that is typed in local money. */
export function ausdField(app: ReferenceApp, termsNow: () => AusdTerms) {
  const { element, update, readMinor, readMicro, enterMicro, suggestMicro } = typedAmount(app, termsNow)
  return { element, update, check: readMinor, read: readMicro, enter: enterMicro, suggest: suggestMicro }
}

/** Groups digits as they are typed, and refuses what is outside the terms. */
function typedAmount(app: ReferenceApp, termsNow: () => Terms) {
  const { t, language } = app
  const input = h('input', { inputmode: 'decimal', autocomplete: 'off' })
  const { element, read } = field('', input, ' ')
  const [label, hint] = [element.querySelector('label'), element.querySelector('.quiet')]
  const beside = h('small', { id: `${input.id}-ausd`, class: 'beside' })
  input.setAttribute('aria-describedby', `${input.getAttribute('aria-describedby')} ${beside.id}`)
  input.after(beside)
  const quick = h('span', { class: 'quick' })
  element.append(quick)

  let entry: Entry = { text: '' }
  let suggestion = entry
  let shown = termsNow()
  input.addEventListener('input', () => {
    const isAtEnd = input.selectionStart === input.value.length
    if (isAtEnd) input.value = groupedText(entry.text, input.value, termsNow().currency, language)
    if (input.value !== entry.text) entry = { text: input.value }
    showBeside()
  })
  const write = (next: Entry) => {
    entry = next
    input.value = entry.text
  }
  /** Withdraws an offer for another amount, as if this one had been typed. */
  const tellOfInput = () => input.dispatchEvent(new Event('input', { bubbles: true }))
  const enter = (next: Entry | undefined) => {
    if (!next) return
    write(next)
    tellOfInput()
  }
  const enterMicro = (micro: string) => enter(entryOf(micro, termsNow(), language))

  const showBeside = () => {
    const { conversion } = termsNow()
    const micro = conversion && microOf(entry, termsNow(), language)
    beside.hidden = conversion === undefined
    beside.textContent = micro === undefined ? '' : money(app, inCents(micro, conversion!.rounding))
  }

  const button = (text: string, enterIt: () => void) => {
    const click = () => {
      enterIt()
      input.focus()
    }
    return h('button', { type: 'button', class: 'small', click }, text)
  }
  const showQuick = liveContent(quick, (terms: Terms) => {
    const { currency, mostMicro } = terms
    const max = maxOf(terms)
    if (max === undefined) return []
    const within = quickAmounts[currency].filter((minor) => isWithin(minor, terms))
    return [
      ...within.map((minor) =>
        button(money(app, minor, currency), () => enter({ text: numberText(minor, currency, language) })),
      ),
      mostMicro !== undefined && mostMicro !== '0' && button(t.most, () => enterMicro(mostMicro)),
    ]
  })

  const rangeText = (terms: Terms): string => {
    const { currency, min, conversion, mostMicro } = terms
    const max = maxOf(terms)
    const least = min && money(app, min, currency)
    if (max === undefined) return least ? t.atLeast(least) : t.forExample(amountExample(currency, language))
    const sum = money(app, max, currency)
    const most = conversion && mostMicro ? about(app, sum, mostMicro, conversion.rounding) : sum
    if (least === undefined || min === undefined) return t.atMost(most)
    return BigInt(min) <= BigInt(max) ? t.fromTo(least, most) : t.atLeast(least)
  }

  /** Keeps the amount when the rate or the currency changes, and ends or withdraws reviews that were made of it. */
  const reconvert = (before: Terms, now: Terms) => {
    const kept = keptEntry(entry, { before, now, language })
    if (!kept || entry.text === '') return
    if (suggestion === entry) suggestion = kept
    write(kept)
    input.dispatchEvent(new Event(reconverted, { bubbles: true }))
    if (before.currency !== now.currency) tellOfInput()
  }

  const update = () => {
    const terms = termsNow()
    reconvert(shown, terms)
    shown = terms
    if (label) label.textContent = terms.label ?? t.amountIn(terms.currency)
    if (hint) hint.textContent = terms.hint ?? rangeText(terms)
    showQuick(terms)
    showBeside()
  }
  update()

  const parse = (terms: AmountTerms) =>
    read((text) => parseAmount(text, terms.currency, language), t.notAnAmount(amountExample(terms.currency, language)))
  return {
    element,
    update,
    enterMicro,
    /** Enters AUSD (10⁻⁶) unless the user has entered another amount. */
    suggestMicro: (micro: string) => {
      if (entry.text !== suggestion.text || suggestion.micro === micro) return
      enterMicro(micro)
      suggestion = entry
    },
    readMinor: (): string => {
      const terms = termsNow()
      const minor = parse(terms)
      return read(() => (isWithin(minor, terms) ? minor : undefined), rangeText(terms))
    },
    /** Returns the AUSD (10⁻⁶), which is never more than the most. */
    readMicro: (terms: Terms = termsNow()): string => {
      const minor = parse(terms)
      const isExact = entry.micro !== undefined
      const micro = isExact || isWithin(minor, terms) ? microOf(entry, terms, language) : undefined
      return read(() => (micro !== undefined && isUpTo(micro, terms.mostMicro) ? micro : undefined), rangeText(terms))
    },
  }
}

const isUpTo = (amount: string, max: string | undefined): boolean =>
  BigInt(amount) > 0n && (max === undefined || BigInt(amount) <= BigInt(max))

/** Returns the most in the currency in which the amount is typed. */
const maxOf = ({ currency, max, conversion, mostMicro }: Terms): string | undefined => {
  if (mostMicro === undefined) return max
  return currency === 'AUSD' ? mostMicro : conversion?.toLocal(mostMicro)
}

const isWithin = (minor: string, terms: Terms): boolean =>
  BigInt(minor) >= BigInt(terms.min ?? 1) && isUpTo(minor, maxOf(terms))

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
