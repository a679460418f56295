import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryDir } from '#infra/local/folders'
import { databaseRoles, migrationsDir } from '#infra/migrations/databases'
import { consumers, streams } from '#infra/nats/topology'
import { topics } from '#shared/messages/catalogue'
import { inboxDays, listDays, type Mover, movers, rules } from './rules'

const text = readFileSync(join(repositoryDir, 'services/README.md'), 'utf8')
const section = text.split(/^## /m).find((one) => one.startsWith('How long everything is kept'))!
/** What the table says of each thing by its name. */
const said = new Map(
  [...section.matchAll(/^\| (`.*?) \|(.*)\|(.*)\|(.*)\|(.*)\|$/gm)].flatMap(
    ([, names, grows, kept, why, by]) =>
      [...names!.matchAll(/`([^`]+)`/g)].map(([, name]) => {
        const cells = [grows, kept, why, by].map((cell) => cell!.trim())
        return [name!, { grows: cells[0]!, kept: cells[1]!, by: cells[3]! }] as const
      }),
  ),
)

/** Every table, as the newest snapshot of its schema's migrations has it. */
const tables = databaseRoles.flatMap((role) => {
  const meta = join(migrationsDir(role), 'meta')
  const newest = readdirSync(meta)
    .filter((file) => file.endsWith('_snapshot.json'))
    .sort()
    .at(-1)!
  return Object.keys(JSON.parse(readFileSync(join(meta, newest), 'utf8')).tables as object)
})
const dayNanos = 86_400_000_000_000

describe('the table of how long everything is kept', () => {
  test('has a row for every table, stream and bucket, and none for anything else', () => {
    const there = [...tables, ...streams.map(({ name }) => name)]
    expect([...said.keys()].sort()).toEqual(there.sort())
  })

  test.each(tables)('says who removes rows of %s, and after how many days', (table) => {
    const own = rules.filter((rule) => rule.table === table)
    const { kept, by } = said.get(table)!
    expect(by).toBe(own.length > 0 ? 'pruning' : 'nobody')
    if (own.length === 0) expect(kept).toBe('for ever')
    for (const { keptDays } of own) expect(kept).toMatch(new RegExp(`\\b${keptDays} days?\\b`))
  })

  test.each(streams)('says how long $name keeps a message', ({ name, max_age: ageNanos = 0 }) => {
    const { kept, by } = said.get(name)!
    expect(by).toBe('nats-server')
    if (ageNanos >= dayNanos) expect(kept).toContain(`${ageNanos / dayNanos} days`)
  })
})

describe('a rule', () => {
  test.each(Object.entries(movers))(
    'keeps what %s has done for a week longer than any stream of its consumer keeps it',
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

  test.each(['payments', 'payouts'] as const)(
    'keeps what %s received of the list for longer than the list shows it',
    async (name) => {
      const { fields } = (await import(join(repositoryDir, `services/${name}/config.ts`))) as {
        fields: Record<string, { fallback?: string }>
      }
      const shownMs =
        Number(fields.LIST_WHOLE_MS!.fallback) + Number(fields.LIST_WHOLE_EVERY_MS!.fallback)
      expect(listDays * 86_400_000).toBeGreaterThan(shownMs + 7 * 86_400_000)
    },
  )

  test.each(Object.entries(movers))(
    'finds the subject of every message that %s sends by a field of it',
    (schema, publisher) => {
      const named: Record<Mover, readonly string[]> = {
        gateway: ['wallet'],
        payments: ['refId', 'paymentId', 'wallet'],
        payouts: ['payoutId'],
        chain_relayer: ['operationId'],
      }
      const own = topics.filter(
        ({ publishers, stream }) => publishers.includes(publisher) && stream !== 'WEBHOOKS',
      )
      expect(own.length).toBeGreaterThan(0)
      for (const { schema: payload } of own) {
        const fields = Object.keys((payload as { properties?: object }).properties ?? {})
        expect(named[schema as Mover].some((name) => fields.includes(name))).toBe(true)
      }
    },
  )

  test('is about no guard: those stay for ever', () => {
    const guards = [
      'journal',
      'payments',
      'operation',
      'refunds',
      'anomalies',
      'transaction',
      'attempt',
    ]
    const prunable = new Set(rules.map(({ table }) => table.split('.')[1]!))
    expect(guards.filter((name) => prunable.has(name))).toEqual([])
    expect(prunable).not.toContain('giveback_request')
  })
})
