import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres, { type Sql } from 'postgres'
import { migrateAll } from '#infra/migrations/migrate'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { exposureOf, readPerson } from './verb'

let server: ScratchPostgres
let owner: Sql
let sql: Sql
const wallet = `0x${'ab'.repeat(20)}`
const other = `0x${'cd'.repeat(20)}`

beforeAll(async () => {
  server = await startScratchPostgres()
  await migrateAll({ adminUrl: server.adminUrl, passwords: server.passwords })
  owner = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
  sql = postgres(server.urlAs('ops', server.passwords.ops), { max: 2, onnotice: () => {} })
  for (const one of [wallet, other]) {
    await owner`insert into gateway.users (wallet, country) values (${one}, 'ID')`
    await owner`insert into payouts.payouts (id, wallet, state, rate_minor_per_usd, ausd_micro, fiat_minor,
        quote_id, taken_by, authorizer, authorization_nonce, "authorization", channel_code, bank_details,
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
  expect(exposed.find(({ table }) => table === 'gateway.users')!.kinds).toContain(
    'country of residence',
  )
})

test('nothing is found about a wallet that was never here', async () => {
  expect(await readPerson(sql, `0x${'ef'.repeat(20)}`)).toEqual([])
})
