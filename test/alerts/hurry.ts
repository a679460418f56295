import type { Alert } from '#infra/documents/blocks'

const seconds = 20

/** Shortens the times of a rule, and lowers the limit of an increase to 1. */
export const hurried = (rule: Alert): Alert => ({
  ...rule,
  for: '2s',
  expr: rule.expr
    .replaceAll(/\[\d+m\]/g, `[${seconds}s]`)
    .replace(/ > (?:[6-9]\d|\d{3,})\b/, ` > ${seconds}`)
    .replace(/(?<=increase\(.*) > \d+$/, ' > 1'),
})

export const rulesFile = (rules: readonly Alert[]): string => JSON.stringify({ groups: [{ name: 'hurried', rules }] })
