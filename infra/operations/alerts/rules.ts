import type { Rule, Series } from './alert'
import { alerts, commandText, type NamedAlert } from './catalogue'

/** Alert with its rule. */
export type Ruled = NamedAlert & { readonly rule: Rule; readonly command: string }

export const ruled: readonly Ruled[] = alerts.filter((one): one is Ruled => one.rule !== undefined)

const quoted = (text: string) => JSON.stringify(text)

/** Returns `rules.yaml`. */
export const rulesText =
  (): string => `# Alert rules, written by \`bun run generate documents\` from infra/operations/alerts/kinds.
# \`severity: page\` needs action now; \`ticket\` waits for working hours. Instances report the same rows, hence max and min.
groups:
${[...Map.groupBy(ruled, ({ area }) => area)].map(([area, rows]) => groupText(area, rows)).join('')}`

const groupText = (area: string, rows: readonly Ruled[]) => `  - name: ${area}
    rules:
${rows.map(ruleText).join('')}`

const ruleText = ({ name, severity, means, steps, command, rule }: Ruled) => `      - alert: ${name}
        expr: >-
          ${rule.expr}
        for: ${rule.for}
        labels: { severity: ${severity} }
        annotations:
          summary: ${quoted(rule.summary)}
          description: ${quoted([means, steps].filter(Boolean).join(' '))}
          command: ${quoted(commandText(command))}
`

/** Returns `rules.test.yaml`: each rule fires for its metrics, with the labels that its summary names, and for no others. */
export const ruleTestsText =
  (): string => `# Metrics for which each rule must and must not fire, written by \`bun run generate documents\` from
# infra/operations/alerts/kinds. Run with \`promtool test rules infra/operations/alerts/rules.test.yaml\`.
rule_files:
  - rules.yaml
evaluation_interval: 5m
tests:
${ruled.flatMap((one) => [testText(one, 'fires', 1), testText(one, 'quiet', 0)]).join('')}`

const titles = { fires: 'fires', quiet: 'is quiet' } as const

function testText({ name, severity, rule }: Ruled, which: keyof typeof titles, count: 0 | 1): string {
  const wanted = { alertname: name, alertstate: 'firing', severity, ...(count === 1 && labelsOf(rule)) }
  const labels = Object.entries(wanted).map(([label, value]) => `${label}="${value}"`)
  return `  - name: ${name} ${titles[which]}
    interval: 1m
    input_series:${seriesText(rule[which])}
    promql_expr_test:
      - eval_time: ${evaluatedAt(rule)}m
        expr: 'count(ALERTS{${labels.join(', ')}}) or vector(0)'
        exp_samples:
          - { labels: '{}', value: ${count} }
`
}

function seriesText(series: Series): string {
  const each = Object.entries(series)
  if (each.length === 0) return ' []'
  return each.map(([name, values]) => `\n      - series: '${name}'\n        values: '${values}x75'`).join('')
}

/** Returns the labels that the summary names, with their values in the first series: those of the alert. */
function labelsOf({ summary, fires }: Rule): Record<string, string> {
  const [first = ''] = Object.keys(fires)
  const named = [...summary.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label!)
  return Object.fromEntries(named.map((label) => [label, new RegExp(`${label}="([^"]*)"`).exec(first)?.[1] ?? '']))
}

/** Returns the minute at which the rule has held for its time, and its rates cover their window of at most 15 min. */
const evaluatedAt = (rule: Rule): number => Math.max(21, minutesOf(rule.for) + 11)

const minutesOf = (text: string): number => Number.parseInt(text, 10) * (text.endsWith('h') ? 60 : 1)
