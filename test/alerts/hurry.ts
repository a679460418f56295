import type { Ruled } from '#infra/operations/alerts/rules'

const seconds = 20

type HurriedRule = { readonly alert: string; readonly for: string; readonly expr: string }

/** Shortens the times of a rule, and lowers the limit of an increase to 1. */
export const hurried = ({ name, rule }: Pick<Ruled, 'name' | 'rule'>): HurriedRule => ({
  alert: name,
  for: '2s',
  expr: rule.expr
    .replaceAll(/\[\d+m\]/g, `[${seconds}s]`)
    .replace(/ > (?:[6-9]\d|\d{3,})\b/, ` > ${seconds}`)
    .replace(/(?<=increase\(.*) > \d+$/, ' > 1'),
})

export const rulesFile = (rules: readonly HurriedRule[]): string =>
  JSON.stringify({ groups: [{ name: 'hurried', rules }] })
