import { expect, test } from 'bun:test'
import type { AlertName } from '#infra/operations/alerts/catalogue'
import { ruled } from '#infra/operations/alerts/rules'
import { conditions } from './conditions'
import { hurried } from './hurry'

test('every alert with a rule has a condition that causes it', () => {
  const caused = conditions.flatMap(({ alerts }) => alerts)
  expect(new Set(caused)).toEqual(new Set(ruled.map(({ name }) => name)))
})

test('a hurried rule differs from its rule in times alone', () => {
  const rowOf = (name: AlertName) => ruled.find((one) => one.name === name)!
  const expr = (name: AlertName) => hurried(rowOf(name)).expr
  expect(expr('TreasuryUnreadable')).toBe('min(ausd_treasury_reading_age_seconds) > 20')
  expect(expr('BooksNotReconciled')).toBe('min(ausd_books_run_age_seconds) > 20 or absent(ausd_books_run_age_seconds)')
  expect(expr('EndpointRefuses')).toBe('sum by (endpoint) (increase(ausd_rpc_rate_limited_total[20s])) > 1')
  for (const name of ['LaneBalanceLow', 'TreasuryLow', 'DeadLetters', 'RateUnusable'] as const)
    expect(expr(name)).toBe(rowOf(name).rule.expr)
})
