import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres, { type Sql } from 'postgres'
import {
  type AssumedRole,
  assumedRoles,
  databaseRoles,
  hasMigrations,
  migrationsDir,
  tablesDir,
} from '#infra/migrations/databases'
import { generate } from '#infra/migrations/generate'
import { migrateAll } from '#infra/migrations/migrate'
import { urlInRole } from '#platform/db/url'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'

let server: ScratchPostgres
const migrate = () => migrateAll({ adminUrl: server.adminUrl, passwords: server.passwords })
beforeAll(async () => {
  server = await startScratchPostgres('empty')
  await Promise.all([migrate(), migrate(), migrate()])
})
afterAll(async () => {
  await Promise.all([...sessions.values()].map((sql) => sql.end({ timeout: 1 })))
  await server[Symbol.asyncDispose]()
})

const sessions = new Map<string, Sql>()
function sessionOf(login: string, password: string, role?: string): Sql {
  const key = `${login} ${password} ${role}`
  const known = sessions.get(key)
  if (known) return known
  const own = server.urlAs(login, password)
  const sql = postgres(role ? urlInRole(own, role) : own, { max: 1, onnotice: () => {} })
  sessions.set(key, sql)
  return sql
}
const run = (role: (typeof databaseRoles)[number] | AssumedRole, statement: string) =>
  isAssumed(role)
    ? sessionOf('operations', server.passwords.operations, role).unsafe(statement)
    : sessionOf(role, server.passwords[role]).unsafe(statement)
const isAssumed = (role: string): role is AssumedRole => (assumedRoles as readonly string[]).includes(role)
const audit = (statement: string) => run('auditor', statement)
const admin = () => sessionOf('postgres', 'admin')
const tablesOf = async (role: string): Promise<string[]> => {
  const rows = await admin()`select tablename from pg_tables where schemaname = ${role}`
  return rows.map((row) => `${role}.${row.tablename}`)
}

describe.each(databaseRoles.filter(hasMigrations))('the role %s', (role) => {
  const other = databaseRoles.find((name) => name !== role && name !== 'pricing')!
  const outbox = `${role}.outbox (id, subject, payload)`

  test('a role writes, changes and reads its own rows, also without naming the schema', async () => {
    if (role === 'pricing') return void (await run(role, 'select * from quotes_taken'))
    if (role === 'indexer_reader') return void (await run(role, 'select 1'))
    if (role === 'books') return void (await run(role, 'select * from books.runs'))
    if (role === 'ops') return void (await run(role, 'select * from commands'))
    await run(role, `insert into ${outbox} values ('own', 's', '{}')`)
    await run(role, `update outbox set published_at = now() where id = 'own'`)
    expect(await run(role, `select id from outbox`)).toHaveLength(1)
  })

  test("security: a role may not read other services' rows, unless its job is to read them all", async () => {
    const reading = run(role, `select * from ${other}.inbox`)
    if (role === 'books' || role === 'ops') expect(await reading).toHaveLength(0)
    else await expect(reading).rejects.toThrow(/permission denied/)
  })

  test.each([
    // guard: a service writes no row of another service
    ['write the rows of another', `insert into ${other}.inbox values ('a', 'b')`],
    ['make a table', `create table ${role}.more (id int)`],
    ['make a schema', 'create schema more'],
    ['make a role', 'create role more'],
    ['read what was migrated', `select * from migrations.${role}`],
  ])('security: a role may not %s', async (_, statement) => {
    await expect(run(role, statement)).rejects.toThrow(/permission denied/)
  })

  test.each([
    // guard: a service deletes no row
    ['delete', 'delete from %'],
    ['empty', 'truncate %'],
    ['change', 'alter table % add column more int'],
    ['drop', 'drop table %'],
  ])('security: a role may not %s any of its tables', async (_, pattern) => {
    const tables = await tablesOf(role)
    expect(tables.length).toBeGreaterThan(0)
    for (const table of tables) {
      const tried = run(role, pattern.replace('%', table))
      await expect(tried).rejects.toThrow(/permission denied|must be owner/)
    }
  })

  test('a role has migrations that produce its tables', () => {
    const out = mkdtempSync(join(tmpdir(), 'migrations-'))
    try {
      cpSync(migrationsDir(role), out, { recursive: true })
      expect(generate(role, 'change', out)).toBe('unchanged')
    } finally {
      rmSync(out, { recursive: true })
    }
  })
})

test('a descending index begins where a list read newest first begins: `desc` sorts nulls first', async () => {
  // In pg_index.indoption, bit 0 is `desc` and bit 1 is `nulls first`. No `order by … desc` can use `desc nulls last`,
  // which drizzle-kit makes of `.desc()`.
  const wrong = await admin()`select indexrelid::regclass::text as name from pg_index
    where indrelid::regclass::text !~ '^(pg_|information_schema)'
      and exists (select 1 from unnest(indoption::int[]) as word where word & 3 = 1)`
  expect(wrong.map(({ name }) => name)).toEqual([])
})

// guard: the taker of a quote is never changed
test('security: the taker of a quote is never changed, not even by pricing', async () => {
  const taking = "('7f9c24e8-3b1a-8d52-9e0f-1c2d3e4f5a6b', 'me', now())"
  await run('pricing', `insert into quotes_taken (id, request_fingerprint, expires_at) values ${taking}`)
  const changed = run('pricing', `update quotes_taken set request_fingerprint = 'you'`)
  await expect(changed).rejects.toThrow(/permission denied/)
})

test('security: an operator adds commands and outcomes, and never changes one', async () => {
  await run(
    'ops',
    `insert into commands (verb, target, cause, reason, asked_by)
    values ('v', 't', 'c', 'r', 'me')`,
  )
  await run('ops', `insert into outcomes (command_id, outcome, said) select id, 'done', 's' from commands`)
  for (const change of [`commands set asked_by = 'you'`, `outcomes set said = 'other'`])
    await expect(run('ops', `update ${change}`)).rejects.toThrow(/permission denied/)
})

test('security: an operator writes to the books only in the role of the books, and the command records it', async () => {
  const closing = 'update books.breaks set closed_at = now()'
  await expect(run('ops', closing)).rejects.toThrow(/permission denied/)
  await run('ops', `begin; set local role books; ${closing}; commit`)
  await expect(run('books', `set role ops`)).rejects.toThrow(/permission denied/)
})

test('security: the login of operations reads nothing unless it takes a role, and takes no other', async () => {
  const login = () => sessionOf('operations', server.passwords.operations)
  await expect(login()`select * from payments.payments`).rejects.toThrow(/permission denied/)
  for (const role of databaseRoles.filter((name) => !isAssumed(name)))
    await expect(login().unsafe(`set role ${role}`)).rejects.toThrow(/permission denied/)
})

test.each(assumedRoles)('security: the role %s has no login', async (role) => {
  await expect(sessionOf(role, 'any')`select 1`).rejects.toThrow(/not permitted to log in|password/)
})

describe('the auditor', () => {
  test('the auditor reads every schema and writes to none', async () => {
    for (const table of (await Promise.all(databaseRoles.map(tablesOf))).flat()) {
      await audit(`select * from ${table}`)
      await expect(audit(`delete from ${table}`)).rejects.toThrow(/permission denied/)
    }
  })
})

describe('a second migration', () => {
  test('a second migration changes nothing but the passwords', async () => {
    const count = () => admin()`select count(*)::int as runs from migrations.chain_relayer`
    const before = await count()
    const passwords = { ...server.passwords, gateway: 'changed' }
    await migrateAll({ adminUrl: server.adminUrl, passwords })
    expect(await count()).toEqual(before)
    expect(await sessionOf('gateway', 'changed')`select 1`).toHaveLength(1)
    await expect(sessionOf('gateway', 'other')`select 1`).rejects.toThrow(/password/)
  })
})

test('every service with tables has migrations', () => {
  const repository = join(import.meta.dir, '../..')
  for (const role of databaseRoles) {
    const hasTables = existsSync(join(repository, tablesDir(role), 'schema.store.ts'))
    expect([role, hasMigrations(role)]).toEqual([role, hasTables])
  }
})
