import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres, { type Sql } from 'postgres'
import { migrationsDir } from '#infra/migrations/databases'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'

// Rows written by the service before it knew of holds on settlements go on under the new rules.

let server: ScratchPostgres
let sql: Sql
const apply = async (name: string) => {
  const text = readFileSync(join(migrationsDir('payments'), name), 'utf8')
  for (const statement of text.split('--> statement-breakpoint')) await sql.unsafe(statement)
}
beforeAll(async () => {
  server = await startScratchPostgres('empty')
  sql = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
  await apply('0000_initial.sql')
  const rows = [
    ['credited', { state: 'credited', held: true, tx_hash: '0x1' }],
    ['held', { state: 'held', held: true, tx_hash: '0x2' }],
    ['repaid', { kind: 'settlement', state: 'repaid', held: false, tx_hash: '0x3' }],
    ['refunded late', { state: 'review', held: false, tx_hash: '0x4', refunded_minor: '20000' }],
    ['never credited', { state: 'review', held: false, refunded_minor: '50000' }],
    ['first open', { kind: 'settlement', state: 'awaiting_payment', created_at: '2026-01-01' }],
    ['second open', { kind: 'settlement', state: 'awaiting_payment', created_at: '2026-01-02' }],
    ['third open', { kind: 'settlement', state: 'opening', created_at: '2026-01-03' }],
  ] as const
  for (const [id, more] of rows) {
    const settlement = 'kind' in more
    await sql`insert into payments.payments ${sql({
      ...{ id, kind: 'topup', wallet: settlement ? '0xopen' : `0x${id}`, pair: 'USD/IDR' },
      ...{ currency: 'IDR', rate_minor_per_usd: '16250', fiat_minor: '50000' },
      ...{ ausd_micro: '3076923', quote_id: id, taken_by: 'me', account: 'ID' },
      ...{ checkout_url: 'https://c', provider_payment_id: `py-${id}` },
      ...{ session_id: `ps-${id}`, look_at: '2026-01-05T00:00:00Z', looks: 3 },
      ...more,
    })}`
  }
  await apply('0001_refunds-and-holds.sql')
  await apply('0002_renamed-columns.sql')
})
afterAll(async () => {
  await sql.end({ timeout: 1 })
  await server[Symbol.asyncDispose]()
})

const whole = { live_micro: '3076923', waived_micro: '0', refund_applied_minor: '0' }
test.each([
  ['credited', { ...whole, credited: true, ended: true, state: 'credited' }],
  ['held', { ...whole, credited: true, ended: false, state: 'held' }],
  ['repaid', { ...whole, credited: true, ended: false, state: 'repaid' }],
  [
    'refunded late',
    {
      ...{ live_micro: '3076923', waived_micro: '1230770', refund_applied_minor: '20000' },
      ...{ credited: true, ended: false, state: 'review' },
    },
  ],
  [
    'never credited',
    {
      ...{ live_micro: '0', waived_micro: '0', refund_applied_minor: '50000' },
      ...{ credited: false, ended: false, state: 'review' },
    },
  ],
  ['first open', { state: 'replaced', reason: 'replaced' }],
  ['second open', { state: 'replaced', reason: 'replaced' }],
  ['third open', { state: 'opening', reason: null }],
])('a payment that was %s becomes %o', async (id, want) => {
  const [row] = await sql`
    select *, credited_at is not null as credited, hold_ended_at is not null as ended
    from payments.payments where id = ${id}`
  expect(row).toMatchObject(want)
})

test('a payment keeps its checkout, next check and check count under their new names', async () => {
  const rows = await sql`select id, checkout_id, next_check_at, checks from payments.payments`
  expect(rows).toHaveLength(8)
  for (const { id, ...kept } of rows)
    expect(kept).toEqual({
      ...{ checkout_id: `ps-${id}`, checks: 3 },
      next_check_at: new Date('2026-01-05T00:00:00Z'),
    })
  const names = await sql`select indexname as name from pg_indexes where schemaname = 'payments'`
  expect(names.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['payments_checkout', 'payments_next_check']),
  )
})
