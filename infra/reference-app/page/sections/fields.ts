import { isAddress } from 'viem'
import type { Currency } from '#shared/money/money'
import type { ReferenceApp } from '../app'
import { field, h } from '../dom'
import { amountExample, bankOf, parseAmount, shortNameOf } from '../format'

/** Creates a field for an amount in the smallest unit. `currency` may change with the user's country. */
export function amountField({ t, language }: ReferenceApp, currency: () => Currency) {
  const input = h('input', { inputmode: 'decimal', autocomplete: 'off' })
  const { element, read } = field('', input, ' ')
  const [label, hint] = [element.querySelector('label'), element.querySelector('.quiet')]
  const example = () => amountExample(currency(), language)
  const update = () => {
    if (label) label.textContent = t.amountIn(currency())
    if (hint) hint.textContent = t.forExample(example())
  }
  update()
  return {
    element,
    update,
    read: () => read((text) => parseAmount(text, currency(), language), t.notAnAmount(example())),
  }
}

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
