import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { repositoryDir } from '#infra/local/folders'
import { logged } from '#infra/operations/alerts/catalogue'
import { limitedStates } from '#infra/operations/alerts/state-limits'
import { alarmLines } from '#platform/alarm-lines'
import { anomalyKinds } from '../../services/payouts/schema.store'

const isSource = (path: string) =>
  !/\.(test|suite)\.ts$|test-support|infra\/operations\/alerts\/|platform\/(alarm-lines|log)\.ts$/.test(path)
const sources = [...new Glob('{services,shared,infra}/**/*.ts').scanSync(repositoryDir)]
  .filter(isSource)
  .map((path) => ({ path, text: readFileSync(join(repositoryDir, path), 'utf8') }))

/** Lines of the limits of states. `unnoticed.suite.ts` leaves an item in each state beyond its limit. */
const ofLimits = new Set<string>(limitedStates.map(({ alarm }) => alarm))

test('every line of an alarm belongs to one alert, or to the limit of a state', () => {
  const named = [...logged, ...ofLimits]
  expect(named.toSorted()).toEqual([...alarmLines].toSorted())
})

test('every line of an alarm is one that a source logs', () => {
  expect(alarmLines.filter((line) => !sources.some(({ text }) => text.includes(`'${line}'`)))).toEqual([])
})

const suites = [...new Glob('{services,shared,infra,test}/**/*.{test,suite}.ts').scanSync(repositoryDir)].map((path) =>
  readFileSync(join(repositoryDir, path), 'utf8'),
)

test('every line of an alarm is one that a test expects', () => {
  // As a string or an expression, alone or after its level; with `!` in suites that mark alarms so.
  const quoted = (line: string) => new RegExp(`(['"/]|: |true )${RegExp.escape(line)}!?['/]`)
  const expected = (line: string) => suites.some((text) => quoted(line).test(text))
  expect(alarmLines.filter((line) => !ofLimits.has(line) && !expected(line))).toEqual([])
})

/** What follows a refusal of the chain is a table with a column of this name. */
const table = 'services/chain-relayer/chain/errors.ts'

test('only the log itself writes the field of an alarm', () => {
  const writers = sources.filter(({ text }) => /\balarm: true\b/.test(text)).map(({ path }) => path)
  expect(writers).toEqual([table])
})

test('a line of an alarm is logged as one', () => {
  const others = /\.(?:error|warn|info|debug)\(((?:[^()]|\([^()]*\))*)\)/g
  const wrong = sources.flatMap(({ path, text }) =>
    [...text.matchAll(others)].flatMap(([, asked]) =>
      alarmLines.filter((line) => asked!.includes(`'${line}'`)).map((line) => `${path}: ${line}`),
    ),
  )
  expect(wrong).toEqual([])
})

test('the runbook says what follows each kind of payout that needs review', () => {
  const runbook = readFileSync(join(repositoryDir, 'infra/operations/runbook/daily.md'), 'utf8')
  /** Kinds without the alert: webhooks of no payout, and returns of AUSD. */
  const others: readonly string[] = ['other_account', 'event_unknown', 'return_failed']
  expect(anomalyKinds.filter((kind) => !others.includes(kind) && !runbook.includes(`\`${kind}\``))).toEqual([])
})
