import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres, { type Sql } from 'postgres'
import { assumedRoles, databaseRoles, loginRoles } from '#infra/migrations/databases'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'

// The expected rights are listed independently of the code that grants them.

let server: ScratchPostgres
let sql: Sql
beforeAll(async () => {
  server = await startScratchPostgres()
  sql = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
})
afterAll(async () => {
  await sql?.end({ timeout: 1 })
  await server?.[Symbol.asyncDispose]()
})

const verbs = ['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger']
const readers = ['auditor', 'books', 'ops']
const movers = ['gateway', 'payments', 'payouts', 'chain_relayer']
const keepers = ['payments', 'payouts', 'chain_relayer', 'books']
const isWrittenOnce = (schema: string, table: string) =>
  schema === 'ops' ||
  ['pricing.quotes_taken', 'books.seals'].includes(table) ||
  keepers.some((keeper) => table === `${keeper}.journal`)
const pruned = new Set([
  ...movers.flatMap((one) => [`${one}.inbox`, `${one}.outbox`, `${one}.dead_letter`]),
  'payouts.account_checks',
  'chain_relayer.signed_amounts',
  'chain_relayer.signed_totals',
  'chain_relayer.reverted_gas',
  'books.runs',
  'indexer_reader.events',
  'indexer_reader.records',
  'indexer_reader.cycles',
])

function expected(role: string, table: string): string[] {
  const schema = table.split('.')[0]!
  if (schema === 'migrations') return []
  if (role === 'pruning') return pruned.has(table) ? ['select', 'delete'] : []
  if (role === schema && isWrittenOnce(schema, table)) return ['select', 'insert']
  if (role === schema) return ['select', 'insert', 'update']
  return readers.includes(role) ? ['select'] : []
}

test('security: each role has exactly the rights on each table that this file lists', async () => {
  const tables = await sql<{ name: string }[]>`
    select schemaname || '.' || tablename as name from pg_tables
    where schemaname <> 'information_schema' and schemaname not like 'pg\\_%'`
  expect(new Set(tables.map(({ name }) => name.split('.')[0]))).toEqual(new Set([...databaseRoles, 'migrations']))
  const wrong: string[] = []
  for (const role of [...loginRoles, ...assumedRoles])
    for (const { name } of tables) {
      const granted = await sql<{ verb: string }[]>`
        select verb from unnest(${verbs}::text[]) as verb
        where has_table_privilege(${role}, ${name}, verb)`
      const may = granted.map(({ verb }) => verb)
      const should = expected(role, name)
      if (may.join() !== should.join()) wrong.push(`${role}, ${name}: ${may.join()}, not ${should}`)
    }
  expect(wrong).toEqual([])
})
