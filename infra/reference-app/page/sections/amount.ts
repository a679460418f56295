import type { Currency } from '#shared/money/money'
import type { ReferenceApp } from '../app'
import { field, h } from '../dom'
import { amountExample, parseAmount } from '../format'

/** Field for an amount; `read` returns it in the smallest unit. `currency` may change with the user's country. */
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
