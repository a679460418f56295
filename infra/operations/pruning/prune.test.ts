import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import postgres, { type Sql } from 'postgres'
import { patienceMs, waitUntil } from '#infra/local/wait'
import { urlInRole } from '#platform/db/url'
import { openLog } from '#platform/log'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { bankDetailsDays, prune } from './prune'
import { openRounds } from './round'
import { rules } from './rules'
import { cases, days, done, run } from './test-support-cases'

let server: ScratchPostgres
let admin: Sql
let pruner: Sql
beforeAll(async () => {
  server = await startScratchPostgres()
  admin = postgres(server.adminUrl, { max: 2, onnotice: () => {} })
  pruner = postgres(jobUrl(), { max: 3, onnotice: () => {}, connection: { lock_timeout: 300 } })
})
afterAll(async () => {
  await Promise.all([admin?.end({ timeout: 1 }), pruner?.end({ timeout: 1 })])
  await server?.[Symbol.asyncDispose]()
})
const jobUrl = () => urlInRole(server.urlAs('operations', server.passwords.operations), 'pruning')

const tables = [
  'payouts.anomalies',
  ...new Set(rules.flatMap(({ table, reads = {} }) => [table, ...Object.keys(reads)])),
]
beforeEach(async () => void (await admin.unsafe(tables.map((name) => `delete from ${name}`).join(';'))))

describe('pruning', () => {
  test.each(cases)('pruning of %s, in %s, leaves the row: %p', async (_, table, stays, ...statements) => {
    for (const statement of statements) await admin.unsafe(statement)
    expect((await prune(pruner))!.failed).toEqual({})
    expect(await admin.unsafe(`select * from ${table}`)).toHaveLength(stays ? 1 : 0)
  })

  test('pruning continues after the spared rows, a batch at a time, and counts both', async () => {
    await admin`insert into payments.inbox (consumer, message_id, done_at)
      select 'payments', 'm' || n, now() - interval '200 days' + n * interval '1 second' from generate_series(1, 25) n`
    await admin`insert into payments.dead_letter (consumer, message_id, subject, payload, reason)
      select 'payments', 'm' || n, 's', '{}', 'r' from generate_series(1, 8) n`
    const pruned = await prune(pruner, { rowsMax: 5 })
    expect(pruned).toMatchObject({
      removed: { 'payments.inbox of payments': 17 },
      spared: { 'payments.inbox of payments': 8 },
    })
    expect((await prune(pruner, { rowsMax: 5 }))!.removed).toEqual({})
  })

  test('pruning runs in one instance at a time, and in another when that one is gone', async () => {
    const other = await admin.reserve()
    await other`select pg_advisory_lock(7262116)`
    expect(await prune(pruner)).toBeUndefined()
    await other`select pg_advisory_unlock(7262116)`
    other.release()
    expect(await prune(pruner)).toBeDefined()
  })

  test('pruning skips a table that is locked, and raises an alarm if the lock lasts', async () => {
    await admin.unsafe(done('payments', 'payments', 'm', days(300)))
    await admin.unsafe(run(false, days(300)))
    const lines: string[] = []
    const log = openLog('pruning', 'info', { write: (line: string) => void lines.push(line) })
    const round = openRounds(pruner, log)
    await admin.begin(async (tx) => {
      await tx`lock table payments.inbox in access exclusive mode`
      for (let times = 0; times < 3; times++) await round()
    })
    expect(await admin`select * from books.runs`).toHaveLength(0)
    const alarms = lines.map((line) => JSON.parse(line)).filter(({ rule }) => rule)
    expect(alarms.filter(({ alarm }) => alarm)).toMatchObject([{ msg: 'pruning failed' }])
    await round()
    expect(await admin`select * from payments.inbox`).toHaveLength(0)
  })

  test('pruning misses one table if its connection is lost, and recovers in the next round', async () => {
    await admin.unsafe(run(false, days(300)))
    await using own = {
      sql: postgres(jobUrl(), { max: 2, onnotice: () => {} }),
      [Symbol.asyncDispose]: () => own.sql.end({ timeout: 1 }),
    }
    const round = await admin.begin(async (tx) => {
      await tx`lock table books.runs in access exclusive mode`
      const round = prune(own.sql)
      await waitUntil('it waiting for the table', async () => {
        const ended = await admin`select pg_terminate_backend(pid) from pg_stat_activity
          where usename = 'operations' and wait_event_type = 'Lock'`
        return ended.length > 0
      })
      return await round
    })
    expect(Object.keys(round!.failed)).toEqual(['books.runs'])
    for (let times = 0; times < 3; times++) expect((await prune(own.sql))!.failed).toEqual({})
    expect(await admin`select * from books.runs`).toHaveLength(0)
  })

  test('pruning fails as a whole while Postgres is down, not table by table', async () => {
    const away = postgres('postgres://pruning@127.0.0.1:1/postgres', { max: 1, backoff: false })
    await expect(prune(away)).rejects.toThrow(/ECONNREFUSED/)
  })

  test('pruning leaves whole batches when it is killed, and the next round finishes', async () => {
    await admin`insert into payments.inbox (consumer, message_id, done_at)
      select 'payments', 'm' || n, now() - interval '200 days' + n * interval '1 second'
      from generate_series(1, 20000) n`
    await admin.unsafe(done('payments', 'payments', 'young', days(1)))
    const count = async () =>
      (await admin<{ rows: number }[]>`select count(*)::int as rows from payments.inbox`)[0]!.rows
    const script = `
      import postgres from 'postgres'
      import { prune } from '${join(import.meta.dir, 'prune')}'
      await prune(postgres(process.env.URL), { rowsMax: 20 })`
    const job = Bun.spawn([process.execPath, '-e', script], {
      env: { URL: jobUrl(), PATH: process.env.PATH ?? '' },
      cwd: import.meta.dir,
    })
    await waitUntil('some being removed', async () => (await count()) < 20_001, patienceMs, 5)
    job.kill('SIGKILL')
    await job.exited
    expect(await count()).toBeGreaterThan(1)
    expect((await count()) % 20).toBe(1)
    await waitUntil('the lock being free', () => prune(pruner))
    expect(await count()).toBe(1)
  })
})

describe('bank details of a cash-out', () => {
  const emptied = async () => {
    expect((await prune(pruner))!.failed).toEqual({})
    const [row] = await admin`
      select bank_details, bank_details_key_id, account_mark, channel_code from payouts.payouts`
    return row!.bank_details === '' && row!.bank_details_key_id === 'erased' && !row!.account_mark
  }
  const insert = async (state: string, endedDaysAgo: number, nextCheckAt = 'null') => {
    await admin.unsafe(`insert into payouts.payouts (id, wallet, state, rate_minor_per_usd, ausd_micro, fiat_minor,
        quote_id, request_fingerprint, authorizer, authorization_nonce, "authorization", channel_code, bank_details,
        bank_details_key_id, account_mark, next_check_at, created_at, updated_at)
      values ('p', '0x1', '${state}', 1, 1, 1, 'q', 't', '0x1', 'n', '{}', 'c', 'box', 'k', 'mark',
        ${nextCheckAt}, ${days(endedDaysAgo + 1)}, ${days(endedDaysAgo)})`)
  }
  test.each(['paid', 'failed', 'returned'])(
    'bank details of a cash-out are emptied six years after it was %s',
    async (state) => {
      await insert(state, bankDetailsDays - 1)
      expect(await emptied()).toBe(false)
      await admin`delete from payouts.payouts`
      await insert(state, bankDetailsDays + 1)
      expect(await emptied()).toBe(true)
      expect((await prune(pruner))!.removed).toEqual({})
    },
  )
  test.each(['taking', 'taken', 'paying', 'returning'])(
    'bank details of a cash-out stay while it is %s',
    async (state) => {
      await insert(state, bankDetailsDays + 1)
      expect(await emptied()).toBe(false)
    },
  )
  test('bank details of a cash-out stay while it is watched for a reversal', async () => {
    await insert('paid', bankDetailsDays + 1, 'now()')
    expect(await emptied()).toBe(false)
  })
  test('bank details of a cash-out stay for six years after an anomaly for manual review', async () => {
    await insert('paid', bankDetailsDays + 1)
    await admin`insert into payouts.anomalies (id, kind, object, payout_id, says)
      values ('a', 'payout_lost', 'o', 'p', 'x')`
    expect(await emptied()).toBe(false)
    await admin`update payouts.anomalies set noticed_at = now() - ${bankDetailsDays + 1} * interval '1 day'`
    expect(await emptied()).toBe(true)
  })
  test('bank details of a cash-out are emptied after the configured number of days', async () => {
    await insert('paid', 31)
    await prune(pruner, { bankDetailsDays: 30 })
    expect(await emptied()).toBe(true)
  })
})

describe('the role pruning', () => {
  const all = async () =>
    (
      await admin<{ name: string }[]>`
        select schemaname || '.' || tablename as name from pg_tables
        where schemaname not in ('pg_catalog', 'information_schema')`
    ).map(({ name }) => name)
  const refused = (statement: string) => expect(pruner.unsafe(statement)).rejects.toThrow(/permission denied/)

  test('security: the role pruning deletes from the tables that have a rule, and from no other', async () => {
    const prunable = new Set(rules.map(({ table }) => table))
    const may = await admin<{ name: string }[]>`
      select table_schema || '.' || table_name as name from information_schema.role_table_grants
      where grantee = 'pruning' and privilege_type = 'DELETE'`
    expect(new Set(may.map(({ name }) => name))).toEqual(prunable)
    for (const name of (await all()).filter((one) => !prunable.has(one))) await refused(`delete from ${name}`)
  })

  test('security: the role pruning writes and truncates nothing, and reads only what its rules need', async () => {
    const readable = new Set(rules.map(({ table }) => table))
    for (const name of await all()) {
      await refused(`truncate ${name}`)
      if (!readable.has(name)) await refused(`select * from ${name}`)
      const [column] = await admin<{ name: string }[]>`
        select column_name as name from information_schema.columns
        where table_schema || '.' || table_name = ${name} and is_identity = 'NO' limit 1`
      await refused(`update ${name} set "${column!.name}" = "${column!.name}"`)
      await refused(`insert into ${name} default values`)
    }
  })

  test('security: the role pruning cannot delete rows of the books, payments, cash-outs or operations', async () => {
    for (const name of ['payments.journal', 'payments.payments', 'payouts.payouts', 'chain_relayer.operation'])
      await refused(`delete from ${name}`)
    await refused('select bank_details from payouts.payouts')
    await refused('select account_mark from payouts.payouts')
    for (const column of ['state', 'wallet', 'fiat_minor', 'next_check_at'])
      await refused(`update payouts.payouts set ${column} = ${column}`)
  })
})
