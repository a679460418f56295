import { describe, expect, test } from 'bun:test'
import { consumers, streams } from '#infra/nats/topology'
import { topics } from '#shared/messages/catalogue'
import { newestTables } from '#test/support/newest-tables'
import { entries, periodOf } from './kept'
import { inboxDays, type Mover, movers, rules } from './rules'

/** Tables of the newest snapshot of each schema's migrations. */
const tables = newestTables().map(([name]) => name)
const dayNanos = 86_400_000_000_000

describe('retention entries', () => {
  test('every table, stream and bucket has one entry, and nothing else has', () => {
    const there = [...tables, ...streams.map(({ name }) => name)]
    expect(entries.flatMap(({ names }) => names).sort()).toEqual(there.sort())
  })

  test('a table is kept for the days of its rules, or permanently without one', () => {
    for (const table of tables) {
      const days = rules.filter((rule) => rule.table === table).map(({ keptDays }) => keptDays)
      if (days.length === 0) expect(periodOf(table)).toBe('permanently')
      for (const count of days) expect(periodOf(table)).toMatch(new RegExp(`\\b${count} days?\\b`))
    }
  })

  test('every stream has a limit of size, and of age or versions', () => {
    for (const { name } of streams) expect(periodOf(name)).toMatch(/^\d+ (days|versions per key), at most \d+ [GM]iB/)
  })

  test('a period is qualified only where rules remove rows', () => {
    const pruned = new Set(rules.map(({ table }) => table))
    for (const { names, period } of entries) if (period) expect(names.filter((name) => !pruned.has(name))).toEqual([])
  })
})

describe('a pruning rule', () => {
  test.each(Object.entries(movers))(
    'the rules keep the inbox of %s for a week longer than any stream of its consumer',
    (schema, consumer) => {
      const read = Object.entries(consumers).filter(([, plans]) =>
        plans.some(({ durable_name: name }) => name === consumer),
      )
      expect(read.length).toBeGreaterThan(0)
      for (const [stream] of read) {
        const ageDays = streams.find(({ name }) => name === stream)!.max_age! / dayNanos
        expect(ageDays).toBeGreaterThan(0)
        expect(inboxDays(consumer)).toBeGreaterThanOrEqual(ageDays + 7)
      }
      const [rule] = rules.filter(({ table, of }) => table === `${schema}.inbox` && of === consumer)
      expect(rule!.keptDays).toBe(inboxDays(consumer))
      expect(rule!.spared).toContain('redriven_at is null')
    },
  )

  test.each(Object.entries(movers))(
    'the rules find the subject of every message that %s sends by a field of it',
    (schema, publisher) => {
      const named: Record<Mover, readonly string[]> = {
        gateway: ['wallet'],
        payments: ['refId', 'paymentId', 'wallet'],
        payouts: ['payoutId'],
        chain_relayer: ['operationId'],
      }
      const own = topics.filter(({ publishers, stream }) => publishers.includes(publisher) && stream !== 'WEBHOOKS')
      expect(own.length).toBeGreaterThan(0)
      for (const { schema: payload } of own) {
        const fields = Object.keys((payload as { properties?: object }).properties ?? {})
        expect(named[schema as Mover].some((name) => fields.includes(name))).toBe(true)
      }
    },
  )

  test('a pruning rule touches no table that guards money', () => {
    const guards = ['journal', 'payments', 'operation', 'refunds', 'anomalies', 'transaction', 'attempt']
    const prunable = new Set(rules.map(({ table }) => table.split('.')[1]!))
    expect(guards.filter((name) => prunable.has(name))).toEqual([])
    expect(prunable).not.toContain('giveback_request')
  })
})
