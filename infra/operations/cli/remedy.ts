import type { Break } from '#infra/operations/books/judge'

const forms = {
  transfer: /^0x[0-9a-f]{64}:[0-9]+$/i,
  payment: /^pay_[\w-]{22}$/,
  cashout: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  message: /^(msg|dlv)_/,
} as const
const formOf = (item: string) =>
  Object.entries(forms).find(([, form]) => form.test(item))?.[0] as keyof typeof forms | undefined

type Of = Pick<Break, 'id' | 'rule' | 'item' | 'amount'>

export const remedyFor = (one: Of): string =>
  `bun run ops ${verbFor({ ...one, id: shellWord(one.id) }, shellWord(one.item))}`

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

function verbFor({ id, rule, item: name, amount }: Of, item: string): string {
  const form = formOf(name)
  if (rule === 'dead_letter') return `dead-letters show ${item}`
  if (rule === 'unsent') return 'in-flight'
  if (rule === 'provider_unknown' && !form) return `unexplained accept ${item} --reason <why>`
  if (form === 'transfer' && rule === 'suspense') return `unexplained return ${item} --reason <why>`
  // An outgoing transfer can only be traced or explained.
  if (form === 'transfer' && rule === 'treasury_moved' && amount > 0n)
    return `unexplained return ${item} --reason <why>`
  if (form === 'payment' && rule === 'suspense') return `review show ${item}`
  if (form) return `trace ${item}`
  if (rule === 'treasury_books' || rule === 'assets_balance') return 'reconcile --whole'
  return `reconcile explain ${id} --owner <who> --reason <why> --until <day>`
}
