import { type FactName, facts } from './facts'
import type { Row, StepVerdict, SuiteResult } from './step'

const widthMax = 80
const heads = ['', 'step', 'expected', 'seen'] as const
const marks = { pass: 'ok', fail: 'FAIL', 'not here': '-' } as const

/** Removes secrets, also as Basic credentials and within addresses. */
function withoutSecrets(text: string, secrets: readonly string[]): string {
  const forms = secrets
    .filter((secret) => secret !== '')
    .flatMap((secret) => [secret, basic(secret), encodeURIComponent(secret)])
  return forms.reduce((clean, secret) => clean.replaceAll(secret, '[removed]'), text)
}

const basic = (secret: string) => Buffer.from(`${secret}:`).toString('base64')

/** Writes the table of a suite, without secrets. */
export function tableOf(result: SuiteResult, secrets: readonly string[]): string {
  const text = result.skipped
    ? `${result.name}: skipped, ${result.skipped}`
    : [result.name, ...linesOf(result.rows)].join('\n')
  return `${withoutSecrets(text, secrets)}\n`
}

function linesOf(rows: readonly Row[]): string[] {
  const cells = rows.map(({ name, expected, seen, verdict }) => [
    marks[verdict],
    name,
    expected,
    // Failures are printed in full.
    verdict === 'fail' ? flat(seen) : short(seen),
  ])
  const table = [heads, ...cells]
  const widths = heads.map((_, column) => Math.min(widthMax, Math.max(...table.map((line) => line[column]!.length))))
  return table.map((line) => `  ${line.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')}`.trimEnd())
}

const flat = (text: string) => text.replace(/\s+/g, ' ').slice(0, 400)
const short = (text: string) => {
  const line = flat(text)
  return line.length <= widthMax ? line : `${line.slice(0, widthMax - 1)}…`
}

export function summaryOf(results: readonly SuiteResult[]): string {
  const rows = results.flatMap((result) => result.rows)
  const count = (verdict: Row['verdict']) => rows.filter((row) => row.verdict === verdict).length
  const skipped = results.filter((result) => result.skipped !== undefined).length
  return [
    `${count('pass')} steps passed, ${count('fail')} failed`,
    `${count('not here')} cannot be shown on this target`,
    `${skipped} suites skipped`,
  ].join(', ')
}

/** Returns true if a step failed; a skipped step is no failure. */
export const failed = (results: readonly SuiteResult[]): boolean =>
  results.some(({ rows }) => rows.some(({ verdict }) => verdict === 'fail'))

export type FactRow = {
  readonly name: FactName
  /** State of the fact; `open` means that this run could not test it. */
  readonly state: 'confirmed' | 'not contradicted' | 'in the sandbox only' | 'NOT SO' | 'open'
}

/** Returns the facts of a run. The sandbox proves nothing about the provider. */
export function factsOf(results: readonly SuiteResult[], target: 'sandbox' | 'test-mode'): FactRow[] {
  const rows = results.flatMap((result) => result.rows)
  const shownAs = (name: FactName) => {
    if (target === 'sandbox') return 'in the sandbox only'
    return facts[name].run ? 'confirmed' : 'not contradicted'
  }
  return (Object.keys(facts) as FactName[]).map((name) => {
    const seen: readonly StepVerdict[] = rows.filter((row) => row.fact === name).map((row) => row.verdict)
    if (seen.includes('fail')) return { name, state: 'NOT SO' }
    const whole = seen.length > 0 && seen.every((verdict) => verdict === 'pass')
    return { name, state: whole ? shownAs(name) : 'open' }
  })
}

export const factsText = (rows: readonly FactRow[]): string =>
  [
    'facts about the outside world',
    ...rows.flatMap(({ name, state }) => {
      const { says, by, takes } = facts[name]
      const rest = state === 'confirmed' ? [] : [`      by: ${by}`, `      takes: ${takes}`]
      return [`  ${state}: ${says}`, ...rest]
    }),
    '',
  ].join('\n')
