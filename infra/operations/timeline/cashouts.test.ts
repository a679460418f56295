import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres, { type Sql } from 'postgres'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { readCashouts } from './cashouts'

let server: ScratchPostgres
let owner: Sql
let sql: Sql

beforeAll(async () => {
  server = await startScratchPostgres()
  owner = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
  sql = postgres(server.urlAs('ops', server.passwords.ops), { max: 2, onnotice: () => {} })
  const wallet = `0x${'a'.repeat(40)}`
  await owner`
    insert into payouts.payouts (id, wallet, state, rate_minor_per_usd, ausd_micro, fiat_minor, quote_id,
      request_fingerprint, authorizer, authorization_nonce, "authorization", channel_code, bank_details,
      bank_details_key_id)
    select id, ${wallet}, 'paying', 16250, 3076923, 50000, id, 'f', ${wallet}, id, '{}', 'ID_BCA', 'x', 'x'
    from unnest(array['out_lost', 'out_other']) id`
  await owner`
    insert into payouts.anomalies (id, kind, object, payout_id, says)
    values ('payout_lost:out_lost', 'payout_lost', 'out_lost', 'out_lost', 'disb-1'),
      ('paid_twice:disb-2', 'paid_twice', 'disb-2', 'out_other', 'disb-2')`
})
afterAll(async () => {
  await Promise.all([owner, sql].map((one) => one?.end({ timeout: 1 })))
  await server?.[Symbol.asyncDispose]()
})

test('the trace of a cash-out shows why its payout needs review', async () => {
  const { entries = [] } = await readCashouts(sql, ['out_lost'])
  expect(entries.filter(({ what }) => what === 'anomaly')).toMatchObject([
    { where: 'payouts', id: 'out_lost', says: 'payout_lost: disb-1', isOdd: true },
  ])
})
