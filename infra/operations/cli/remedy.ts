import type { Break } from '#infra/operations/books/judge'
import { ruleNamed } from '#infra/operations/books/rules/catalogue'
import type { BreakItem } from '#infra/operations/books/rules/rule'

const forms: Readonly<Record<NonNullable<BreakItem['form']>, RegExp>> = {
  transfer: /^0x[0-9a-f]{64}:[0-9]+$/i,
  payment: /^pay_[\w-]{22}$/,
  cashout: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  message: /^(msg|dlv)_/,
}
const formOf = (item: string) =>
  Object.entries(forms).find(([, form]) => form.test(item))?.[0] as keyof typeof forms | undefined

type Broken = Pick<Break, 'id' | 'rule' | 'item' | 'amount' | 'about'>

/** Returns the command for a break: that of its rule, or the usual one. */
export function remedyFor({ id, rule, item, amount, about }: Broken): string {
  const form = formOf(item)
  const word = shellWord(item)
  const usual = form ? `trace ${word}` : `reconcile explain ${shellWord(id)} --owner <who> --reason <why> --until <day>`
  return `bun run ops ${ruleNamed(rule)?.command?.({ form, word, amount, about }) ?? usual}`
}

/**
 * Quotes an item for a shell, because an item can be text from outside. Characters that a terminal obeys when they are
 * pasted, such as Ctrl-C, become octal numbers.
 */
export function shellWord(text: string): string {
  if (/^[\w.:-]+$/.test(text)) return text
  if (!/[\p{C}\u2028\u2029]/u.test(text)) return `'${text.replaceAll("'", "'\\''")}'`
  const numbers = [...new TextEncoder().encode(text)].map((byte) => byte.toString(8).padStart(3, '0'))
  return `"$(printf '%b' '${numbers.map((number) => `\\0${number}`).join('')}')"`
}
