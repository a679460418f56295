import type { Alert } from '#infra/documents/blocks'

/** Length of a rule's windows, and the longest age without an alert. */
const seconds = 20

/**
 * Shortens only time: windows and limits of a minute or more become 20 s, a condition holds for 2
 * s, an increase is more than 1.
 */
export const hurried = (rule: Alert): Alert => ({
  ...rule,
  for: '2s',
  expr: rule.expr
    .replaceAll(/\[\d+m\]/g, `[${seconds}s]`)
    .replace(/ > (?:[6-9]\d|\d{3,})\b/, ` > ${seconds}`)
    .replace(/(?<=increase\(.*) > \d+$/, ' > 1'),
})

export const rulesFile = (rules: readonly Alert[]): string =>
  JSON.stringify({ groups: [{ name: 'hurried', rules }] })
