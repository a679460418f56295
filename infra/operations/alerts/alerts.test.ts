import { describe, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readAlerts } from '#infra/documents/blocks'
import { absent, alertsDir, findProgram, measuresIn, readQueries } from '#test/support/telemetry/prometheus'

const rules = readAlerts()
const read = (name: string) => readFileSync(join(alertsDir, name), 'utf8')

describe('every alert', () => {
  test('every alert has a summary, a description, a command, a severity and an expression', () => {
    expect(rules.length).toBeGreaterThan(20)
    for (const { annotations, labels, ...rule } of rules) {
      for (const text of [annotations.summary, annotations.description, annotations.command])
        expect([rule.alert, text]).toEqual([rule.alert, expect.stringMatching(/\w/)])
      expect(['page', 'ticket']).toContain(labels.severity)
      expect(rule.for).toMatch(/^\d+[mh]$/)
      expect(measuresIn(rule.expr).length).toBeGreaterThan(0)
    }
  })

  test('every alert has metrics that must fire it and metrics that must not', () => {
    const tried = [...read('rules.test.yaml').matchAll(/- name: (\w+) (calls|is quiet)$/gm)]
    const wanted = rules.flatMap(({ alert }) => [`${alert} calls`, `${alert} is quiet`])
    expect(tried.map(([, alert, what]) => `${alert} ${what}`)).toEqual(wanted)
  })
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
      expect([...silent].sort()).toEqual(rules.map(({ alert }) => alert).sort())
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })
})
