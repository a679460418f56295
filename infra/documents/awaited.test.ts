import { describe, expect, test } from 'bun:test'
import { alerts, logged } from '#infra/operations/alerts/catalogue'
import { limitedStates } from '#infra/operations/alerts/state-limits'
import { verbs } from '#infra/operations/cli/main'
import { newestTables } from '#test/support/newest-tables'
import { awaited, resting } from './awaited'

const tables = newestTables().map(([name]) => name)
const waiting = awaited.flatMap((one) => one.tables)

test('every table holds something that waits, or the list says why nothing waits in it', () => {
  expect([...new Set([...waiting, ...Object.keys(resting)])].sort()).toEqual(tables.toSorted())
  expect(waiting.filter((table) => table in resting)).toEqual([])
})

const raised = new Set([
  ...logged,
  ...limitedStates.map(({ alarm }) => alarm),
  ...alerts.map(({ name }) => name),
  ...[...verbs].flatMap(([verb, { among = {} }]) => [
    `ops ${verb}`,
    ...Object.keys(among).map((one) => `ops ${verb} ${one}`),
  ]),
])

describe.each(awaited.map((one) => [one.what, one] as const))('the end of a %s', (_, { alarms, prolonged }) => {
  test('has alarms that something raises, unless nobody can prolong it', () => {
    expect(alarms.filter((alarm) => !raised.has(alarm))).toEqual([])
    if (alarms.length === 0) expect(prolonged).toStartWith('nobody')
  })
})

test('the alarm of every limited state is an alarm of something that waits', () => {
  const named = new Set(awaited.flatMap(({ alarms }) => alarms))
  const ofStates = limitedStates.map(({ alarm }) => alarm)
  expect(ofStates.filter((alarm) => !named.has(alarm))).toEqual([])
})
