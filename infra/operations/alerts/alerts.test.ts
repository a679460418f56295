import { describe, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { absent, alertsDir, findProgram, measuresIn, readQueries } from '#test/support/telemetry/prometheus'
import type { Access } from './alert'
import { alerts } from './catalogue'
import { ruled } from './rules'

const read = (name: string) => readFileSync(join(alertsDir, name), 'utf8')

describe('every alert', () => {
  test('every alert has steps, and a lasting one has an end', () => {
    expect(alerts.length).toBeGreaterThan(30)
    expect(new Set(alerts.map(({ name }) => name)).size).toBe(alerts.length)
    for (const { name, steps, ...row } of alerts) {
      expect([name, steps]).toEqual([name, expect.stringMatching(/\w.*\.$|\?$/)])
      // A rule and a line of `ops status` last until something ends them.
      if (row.rule || row.inStatus) expect([name, row.ends]).toEqual([name, expect.stringMatching(/\w/)])
    }
  })

  test('every alert can be noticed: by a rule, by log lines or in the status', () => {
    expect(alerts.filter(({ rule, log, inStatus }) => !rule && !log && !inStatus)).toEqual([])
  })

  test('every alert needs the access that its first command needs', () => {
    const accessOf = (command: string): Access => (command.startsWith('ops ') ? 'ops' : 'host')
    const lacking = alerts.filter(({ command, access }) => command && !access.includes(accessOf(command)))
    expect(lacking.map(({ name }) => name)).toEqual([])
  })

  test('every alert with a rule has a command, a summary, a time and metrics', () => {
    expect(ruled).toHaveLength(alerts.filter(({ rule }) => rule).length)
    for (const { name, command, rule } of ruled) {
      for (const text of [rule.summary, command]) expect([name, text]).toEqual([name, expect.stringMatching(/\w/)])
      expect([name, rule.for]).toEqual([name, expect.stringMatching(/^\d+[mh]$/)])
      expect([name, measuresIn(rule.expr).length]).not.toEqual([name, 0])
    }
  })
})

test('an alert about a rate looks back for less time than it must last, so that none begins long after its cause ended', () => {
  const minutesOf = (text: string) => Number.parseInt(text, 10) * (text.endsWith('h') ? 60 : 1)
  // A histogram says how long ended work took.
  const rates = ruled.filter(({ rule: { expr } }) => /\brate\(/.test(expr) && !expr.includes('histogram_quantile'))
  expect(rates.length).toBeGreaterThan(3)
  const late = rates.filter(({ rule }) => {
    const windows = [...rule.expr.matchAll(/\[(\d+[mh])\]/g)].map(([, window]) => minutesOf(window!))
    return Math.max(...windows) >= minutesOf(rule.for)
  })
  expect(late.map(({ name }) => name)).toEqual([])
})

test('every panel of the dashboard has its own query', () => {
  const queries = readQueries().map(({ expr }) => expr)
  expect(queries.length).toBeGreaterThan(30)
  expect(new Set(queries).size).toBe(queries.length)
})

const promtool = findProgram('promtool')
const promtoolSays = async (dir: string, ...words: string[]) => {
  const run = Bun.spawn([promtool!, ...words], { cwd: dir, stdout: 'pipe', stderr: 'pipe' })
  const [out, err] = await Promise.all([run.stdout, run.stderr].map((one) => new Response(one).text()))
  return { code: await run.exited, said: `${out}${err}` }
}

describe.skipIf(!promtool)(promtool ? 'promtool' : `promtool (${absent})`, () => {
  test('accepts the rules and the configuration, and every rule fires when it must', async () => {
    for (const words of [
      ['check', 'rules', 'rules.yaml'],
      ['check', 'config', 'prometheus.yaml'],
      ['test', 'rules', 'rules.test.yaml'],
    ]) {
      const { code, said } = await promtoolSays(alertsDir, ...words)
      expect([words, code === 0 || said]).toEqual([words, true])
    }
  })

  test('finds a rule that never fires', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'rules-'))
    try {
      cpSync(alertsDir, dir, { recursive: true })
      const broken = read('rules.yaml').replaceAll(/expr: >-\n +.+\n/g, 'expr: vector(1) > 2\n')
      writeFileSync(join(dir, 'rules.yaml'), broken)
      const { code, said } = await promtoolSays(dir, 'test', 'rules', 'rules.test.yaml')
      expect(code).not.toBe(0)
      // Not every promtool prints the test's name; the expression that was not met names its rule.
      const silent = new Set(said.match(/(?<=alertname=\\?")\w+/g))
      expect([...silent].sort()).toEqual(ruled.map(({ name }) => name).sort())
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })
})
