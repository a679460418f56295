import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { PgDialect } from 'drizzle-orm/pg-core'
import postgres, { type Sql } from 'postgres'
import { holds, personalData } from '#infra/documents/personal-data'
import { databaseRoles } from '#infra/migrations/databases'
import { type Database, openDatabase } from '#platform/db/open'
import { findPersonTables, openPersonReader, operatorsOnly, type Run, walkPerson } from '#platform/db/person'
import { openLog } from '#platform/log'
import { type PersonPage, personReads } from '#shared/messages/person'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { exposureOf } from './command'
import { readPerson } from './read'

let server: ScratchPostgres
let owner: Sql
let sql: Sql
const wallet = `0x${'ab'.repeat(20)}`
const other = `0x${'cd'.repeat(20)}`

beforeAll(async () => {
  server = await startScratchPostgres()
  owner = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
  sql = postgres(server.urlAs('ops', server.passwords.ops), { max: 2, onnotice: () => {} })
  for (const one of [wallet, other]) {
    await owner`insert into gateway.users (wallet, country) values (${one}, 'ID')`
    await owner`insert into payouts.payouts (id, wallet, state, rate_minor_per_usd, ausd_micro, fiat_minor,
        quote_id, request_fingerprint, authorizer, authorization_nonce, "authorization", channel_code, bank_details,
        bank_details_key_id)
      values (${`payout-${one}`}, ${one}, 'paid', 1, 1, 1, ${`q-${one}`}, 't', ${one}, ${`n-${one}`}, '{}',
        'ID_BCA', 'a sealed box', 'k1')`
    await owner`insert into payouts.anomalies (id, kind, object, payout_id, says)
      values (${`a-${one}`}, 'payout_differs', ${`o-${one}`}, ${`payout-${one}`}, 'x')`
  }
})
afterAll(async () => {
  await Promise.all([owner, sql].map((one) => one?.end({ timeout: 1 })))
  await server?.[Symbol.asyncDispose]()
})

test('an export has every row about the wallet and its items, nothing of others, and no sealed box', async () => {
  const stored = await readPerson(sql, wallet)
  expect(stored.map(({ table, rows }) => [table, rows.length])).toEqual([
    ['gateway.users', 1],
    ['payouts.anomalies', 1],
    ['payouts.payouts', 1],
  ])
  const text = JSON.stringify(stored)
  expect(text).not.toContain(other)
  expect(text).not.toContain('a sealed box')
  expect(text).toContain('"bank_details":"sealed"')
})

test('an exposure names the kinds of personal data in each table, and since when', async () => {
  const exposed = (await readPerson(sql, wallet)).map(exposureOf)
  const payouts = exposed.find(({ table }) => table === 'payouts.payouts')!
  expect(payouts).toMatchObject({ rows: 1, first: expect.stringMatching(/^\d{4}-/) })
  expect(payouts.kinds).toContain('bank account: number, holder name, bank')
  expect(exposed.find(({ table }) => table === 'gateway.users')!.kinds).toContain('country of residence')
})

describe('the pages that a service returns', () => {
  const pagesOf = async (database: Database, service: string) => {
    const read = openPersonReader(database, service)
    const pages: PersonPage[] = []
    do {
      const after = pages.at(-1)?.next
      pages.push(await read({ wallet, ...(after && { after }) }))
    } while (pages.at(-1)!.next)
    return pages
  }
  const open = (service: string) => {
    const url = server.urlAs(service, server.passwords[service as 'payments'])
    const log = openLog('test', 'silent')
    return openDatabase({ url, name: service, log, onFatal: () => {} })
  }
  const rowsOf = (pages: readonly PersonPage[]) => pages.flatMap(({ rows }) => rows)

  test('have every row once, in pages of at most 64 kB and one row more', async () => {
    await owner`insert into chain_relayer.operation (id, kind, cause, wallet, payload, content_hash, leaves_micro, state)
      select 'op-' || n, 'send', 'c' || n, case n % 2 when 0 then ${wallet} else ${other} end,
        jsonb_build_object('signature', repeat('0', 8194), 'value', '1'), 'h', 900719925474099312::numeric + n, 'settled'
      from generate_series(1, 300) n`
    await using database = open('chain_relayer')
    const pages = await pagesOf(database, 'chain-relayer')
    expect(pages.length).toBeGreaterThan(10)
    const largest = Math.max(...pages.map((page) => JSON.stringify(page).length))
    expect(largest).toBeLessThan(64 * 1024 + 10_000)
    const rows = rowsOf(pages)
    expect(new Set(rows.map(({ values }) => values.id)).size).toBe(150)
    expect(rows).toHaveLength(150)
    expect(rows.every(({ values }) => values.wallet === wallet)).toBe(true)
    expect(rows[0]!.values.leaves_micro).toMatch(/^9007199254740993?\d+$/)
  })

  test('have the public record of the generation that serves, and of no other', async () => {
    for (const [generation, state] of [
      [1, 'retired'],
      [2, 'serving'],
    ] as const) {
      await owner`insert into indexer_reader.cursors (generation, state, chain_id, contract, deploy_block,
          block_number, block_time_seconds, sequence, complete, moved_at)
        values (${generation}, ${state}, 1, 'c', 0, 0, 0, 0, true, now())`
      await owner`insert into indexer_reader.events
        values (${generation}, 1, 1, ${wallet}, 'Verified', '{}', '0x2', 1)`
    }
    await using database = open('indexer_reader')
    const rows = rowsOf(await pagesOf(database, 'indexer-reader'))
    expect(rows.map(({ table, values }) => [table, values.generation])).toEqual([['indexer_reader.events', 2]])
  })

  test('leave out the notes of operators, and write times as the interface does', async () => {
    const payment = {
      id: 'pay_1',
      kind: 'topup',
      state: 'expired',
      wallet,
      pair: 'USD/IDR',
      currency: 'IDR',
      account: 'ID',
      rate_minor_per_usd: 1,
      fiat_minor: 1,
      ausd_micro: 1,
      quote_id: 'q1',
      request_fingerprint: 't',
      created_at: new Date('2026-11-01T02:03:04.567Z'),
    }
    await owner`insert into payments.payments ${owner(payment)}`
    await owner`insert into payments.resolutions (deed_id, payment_id, resolution, decided_by, reason)
      values (gen_random_uuid(), 'pay_1', 'accept', 'olga', 'same as 0xother')`
    await using database = open('payments')
    const rows = rowsOf(await pagesOf(database, 'payments'))
    const tables = rows.map(({ table }) => table)
    expect(tables).toEqual(['payments.payments', 'payments.resolutions'])
    expect(rows[0]!.values).toMatchObject({
      ausd_micro: '1',
      created_at: '2026-11-01T02:03:04.567Z',
    })
    expect(JSON.stringify(rows)).not.toMatch(/olga|same as/)
    const whole = (await readPerson(sql, wallet)).find(({ table }) => table === tables[1])
    expect(whole!.rows).toMatchObject([{ decided_by: 'olga', reason: 'same as 0xother' }])
  })

  test('leave out the other wallets of the person, who may be somebody else; operators see them', async () => {
    await owner`insert into gateway.identities (wallet, state, provider, decided_at, same_as, named)
      values (${wallet}, 'duplicate', 'sumsub', now(), ${other}, ${[other]})`
    await owner`insert into gateway.persons (wallet, ruling, linked_to, deed)
      values (${wallet}, 'linked', ${other}, gen_random_uuid())`
    await using database = open('gateway')
    const rows = rowsOf(await pagesOf(database, 'gateway'))
    expect(rows.map(({ values }) => values.state ?? values.ruling ?? values.country)).toEqual([
      'duplicate',
      'linked',
      'ID',
    ])
    expect(JSON.stringify(rows)).not.toContain(other)
    expect(JSON.stringify(await readPerson(sql, wallet))).toContain(`"same_as":"${other}"`)
  })

  test('are read by an index, for a wallet with few rows and for one with many', async () => {
    await owner`set session_replication_role = replica` // In this role, triggers do not run.
    await owner`insert into payments.payments (id, kind, state, wallet, pair, currency, account, rate_minor_per_usd,
        fiat_minor, ausd_micro, quote_id, request_fingerprint)
      select 'pay_' || md5(n::text), 'topup', 'expired', '0x' || lpad(to_hex(case when n % 10 = 0 then 0 else n / 4 end), 40, '0'),
        'USD/IDR', 'IDR', 'ID', 1, 1, 1, 'quote' || n, 't' from generate_series(1, 20000) n`
    await owner`insert into payments.journal (posting, line, event, item, account, asset, amount)
      select md5(p.id || n), n, 'e', p.id, 'suspense', 'IDR', 1 from payments.payments p, generate_series(0, 3) n`
    await owner`insert into chain_relayer.reverted_gas (lane, nonce, wallet, wei)
      select '0x1', row_number() over (), wallet, 1 from payments.payments`
    await owner`set session_replication_role = origin`
    await owner.unsafe('analyze')
    const dialect = new PgDialect()
    const scans: string[] = []
    const filled = /Seq Scan on (payments\.(payments|journal)|chain_relayer.reverted_gas)/
    const run: Run = async (statement) => {
      const { sql: text, params } = dialect.sqlToQuery(statement)
      const plan = await owner.unsafe(`explain (verbose) ${text}`, params as string[])
      const lines = plan.map((row) => String(row['QUERY PLAN']))
      scans.push(...lines.filter((line) => filled.test(line)))
      return owner.unsafe(text, params as string[])
    }
    const tables = await findPersonTables(run, databaseRoles, operatorsOnly)
    for (const of of [0, 1_000].map((n) => `0x${n.toString(16).padStart(40, '0')}`)) {
      let rows = 0
      for await (const _ of walkPerson(run, tables, of)) rows++
      expect(rows).toBeGreaterThan(10)
    }
    expect(scans).toEqual([])
  })

  test('hide every column about a person with a name or note of an operator, or the wallet of another person', async () => {
    const dialect = new PgDialect()
    const run: Run = (statement) => {
      const { sql: text, params } = dialect.sqlToQuery(statement)
      return owner.unsafe(text, params as string[])
    }
    const tables = await findPersonTables(run, databaseRoles, new Set())
    const kinds = personalData.filter(({ what }) => /^(operators|other wallets)/.test(what))
    const columns = tables.flatMap(({ name, columns }) => columns.map((column) => `${name}.${column.name}`))
    expect(columns.length).toBeGreaterThan(200)
    expect(columns.filter((one) => kinds.some((kind) => holds(kind, one))).sort()).toEqual([...operatorsOnly].sort())
  })
})

test('every service that has rows about a wallet gives them to its user', async () => {
  const dialect = new PgDialect()
  const run: Run = (statement) => {
    const { sql: text, params } = dialect.sqlToQuery(statement)
    return owner.unsafe(text, params as string[])
  }
  const tables = await findPersonTables(run, databaseRoles, operatorsOnly)
  const schemas = new Set(tables.map(({ name }) => name.split('.')[0]!))
  const ofOperators = ['books', 'ops']
  // The gateway reads its own rows itself.
  const answering = ['gateway', ...Object.keys(personReads)].map((service) => service.replace('-', '_'))
  expect([...schemas].filter((schema) => !ofOperators.includes(schema)).sort()).toEqual(answering.sort())
})

test('nothing is found about a wallet that was never here', async () => {
  expect(await readPerson(sql, `0x${'ef'.repeat(20)}`)).toEqual([])
})
