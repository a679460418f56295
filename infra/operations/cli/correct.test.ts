import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres, { type Sql } from 'postgres'
import { correct, outcomeOf } from '#infra/operations/cli/correct'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'

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

test('ops correct reverses a posting of any journal, once, with a reason', async () => {
  await sql`insert into payouts.journal (posting, line, event, item, account, asset, amount)
    values ('po/1', 0, 'paying → paid', 'po', 'payouts', 'IDR', 5),
      ('po/1', 1, 'paying → paid', 'po', 'provider_id', 'IDR', -5)`
  expect(await correct(sql, 'po/1', 'paid by another account')).toStartWith('po/1 of po reversed by po/')
  const lines = await sql`
    select line, event, item, account, amount::text from payouts.journal where reverses = 'po/1'`
  const event = 'reversed: paid by another account'
  expect([...lines]).toEqual([
    { line: 0, event, item: 'po', account: 'payouts', amount: '-5' },
    { line: 1, event, item: 'po', account: 'provider_id', amount: '5' },
  ])
  await expect(correct(sql, 'po/1', 'again')).rejects.toThrow('po/1 was already reversed by po/')
  await expect(correct(sql, 'po/2', 'none')).rejects.toThrow('nothing was changed')
  expect(await sql`select 1 from payouts.journal`).toHaveLength(4)
})

test('ops correct reports a missing or reversed posting as a refusal, but not a lost connection', async () => {
  await sql`insert into payouts.journal (posting, line, event, item, account, asset, amount)
    values ('po/3', 0, 'paying → paid', 'po', 'payouts', 'IDR', 5),
      ('po/3', 1, 'paying → paid', 'po', 'provider_id', 'IDR', -5)`
  expect(await outcomeOf(server.adminUrl, 'po/4', 'none')).toEqual({
    refused: 'no journal has the posting po/4; nothing was changed',
  })
  expect(await outcomeOf(server.adminUrl, 'po/3', 'once')).toHaveProperty('done')
  expect(await outcomeOf(server.adminUrl, 'po/3', 'again')).toEqual({
    refused: expect.stringContaining('po/3 was already reversed by po/'),
  })
  const nobody = 'postgres://postgres@127.0.0.1:1/postgres'
  await expect(outcomeOf(nobody, 'po/3', 'again')).rejects.toThrow()
})
