import { expect, test } from 'bun:test'
import { readAlerts } from '#infra/documents/blocks'
import { conditions } from './conditions'
import { hurried } from './hurry'

const rules = readAlerts()

test('every alert has a condition that causes it', () => {
  const caused = conditions.flatMap(({ alerts }) => alerts)
  expect(new Set(caused)).toEqual(new Set(rules.map(({ alert }) => alert)))
})

test('a hurried rule differs from its rule in times alone', () => {
  const expr = (name: string) => hurried(rules.find(({ alert }) => alert === name)!).expr
  expect(expr('TreasuryUnreadable')).toBe('min(ausd_treasury_reading_age_seconds) > 20')
  expect(expr('BooksNotReconciled')).toBe('min(ausd_books_run_age_seconds) > 20 or absent(ausd_books_run_age_seconds)')
  expect(expr('EndpointRefuses')).toBe('sum by (endpoint) (increase(ausd_rpc_rate_limited_total[20s])) > 1')
  for (const name of ['LaneBalanceLow', 'TreasuryLow', 'DeadLetters', 'RateUnusable'])
    expect(expr(name)).toBe(rules.find(({ alert }) => alert === name)!.expr)
})
