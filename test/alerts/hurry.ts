import type { Alert } from '#infra/documents/blocks'

/** Length of a rule's windows, and the longest age without an alert. */
const seconds = 20

/**
 * Returns a rule in which only time is shorter: windows and limits of a minute or more take 20 s, and
 * a condition must hold for 2 s, and an increase is more than 1. All else is the product's.
 */
export const hurried = (rule: Alert): Alert => ({
  ...rule,
  for: '2s',
  expr: rule.expr
    .replaceAll(/\[\d+m\]/g, `[${seconds}s]`)
    .replace(/ > (?:[6-9]\d|\d{3,})\b/, ` > ${seconds}`)
    .replace(/(?<=increase\(.*) > \d+$/, ' > 1'),
})

/** Returns the text of a rule file. */
export const rulesFile = (rules: readonly Alert[]): string =>
  JSON.stringify({ groups: [{ name: 'hurried', rules }] })
