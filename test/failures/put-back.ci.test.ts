import { afterAll, beforeAll, expect, test } from 'bun:test'
import { drizzle } from 'drizzle-orm/postgres-js'
import postgres, { type Sql } from 'postgres'
import { type PutBack, putBack } from '#infra/operations/restore/put-back'
import { type Position, position } from '#shared/ledger/position'
import { startScratchPostgres } from '#test/support/scratch-postgres'
import { positionOf as paymentPosition } from '../../services/payments/ledger/position'
import { payments } from '../../services/payments/payment.table'
import { journal as paymentJournal } from '../../services/payments/schema.store'
import { cashouts } from '../../services/payouts/cashout.table'
import { positionOf as cashoutPosition } from '../../services/payouts/ledger/position'
import { journal as payoutJournal } from '../../services/payouts/schema.store'

// Restored rows are booked as their services would book them.

let server: Awaited<ReturnType<typeof startScratchPostgres>>
let sql: Sql
beforeAll(async () => {
  server = await startScratchPostgres()
  sql = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
})
afterAll(async () => {
  await sql?.end({ timeout: 1 })
  await server?.[Symbol.asyncDispose]()
})

const wallet = `0x${'a'.repeat(40)}`
const at = new Date('2026-11-01T00:00:00Z')
const paid = (id: string) => ({
  state: 'paid' as const,
  held: false,
  onchain_micro: 100_000_000n,
  paid_minor: 1_641_300n,
  provider_payment_id: `py-${id}`,
  payment_request_id: null,
  channel: 'QRIS',
  paid_at: at,
})
const promised = (id: string) => ({
  id,
  kind: 'topup' as const,
  wallet,
  pair: 'USD/IDR',
  currency: 'IDR',
  account: 'ID',
  fiat_minor: 1_641_300n,
  ausd_micro: 100_000_000n,
  rate_minor_per_usd: 16_413n,
  spread_bps: 100n,
  quote_id: id,
  request_fingerprint: 'me',
  method: 'qr',
  created_at: at,
  checkout_id: `ps-${id}`,
  checkout_url: 'https://c',
  expires_at: at,
})
const cashout = (id: string, state: 'paying' | 'returning' | 'failed') => ({
  id,
  state,
  wallet,
  ausdMicro: 5_000_000n,
  fiatMinor: 82_065n,
  feeMinor: 0n,
  rateMinorPerUsd: 16_413n,
  spreadBps: 100n,
  quoteId: id,
  requestFingerprint: 'me',
  channelCode: 'ID_BCA',
  createdAt: at,
  providerPayoutId: null,
  reason: null,
  takeTxHash: null,
  authorization: { nonce: id } as never,
})
const change: PutBack = {
  since: at,
  asked: [],
  returns: [],
  dropped: [],
  hold: [],
  transactions: [],
  erased: new Map(),
  paidCashouts: [],
  payments: [
    { ...promised('expired'), state: 'expired' },
    { ...promised('paid'), ...paid('paid') },
    { ...promised('other-sum'), ...paid('other-sum'), paid_minor: 1_700_000n },
    { ...promised('rest'), ...paid('rest'), kind: 'settlement', overpaid_minor: 700n },
  ],
  paid: ['late', 'twice', 'refunded'].map((id) => ({ id, facts: paid(id) })),
  payouts: [
    cashout('a', 'paying'),
    cashout('b', 'returning'),
    cashout('c', 'failed'),
    cashout('opening', 'returning'),
    cashout('accepted', 'returning'),
  ],
}

const sorted = (lines: Position) => lines.map(({ account, asset, amount }) => `${account} ${asset} ${amount}`).sort()

test('a restore books each item once, whatever was booked before', async () => {
  const store = async (row: object) => {
    const words = Object.entries(row).map(([name, value]) => [name, typeof value === 'bigint' ? `${value}` : value])
    await sql`insert into payments.payments ${sql(Object.fromEntries(words))}`
  }
  await store({ ...promised('late'), state: 'expired', reason: 'awaiting_rate' })
  // Paid twice: an operator decides about the second charge.
  await store({
    ...promised('twice'),
    state: 'expired',
    reason: 'awaiting_rate',
    provider_payment_id: 'py-twice',
    paid_minor: 1_641_300n,
    overpaid_minor: 1_641_300n,
  })
  // The service had counted the refund and never saw the credit.
  await store({
    ...promised('refunded'),
    ...paid('refunded'),
    state: 'refunded',
    refunded_minor: 500_000n,
    onchain_micro: 0n,
  })
  // The service had booked money of a row that it did not have.
  await sql`insert into payments.journal (posting, line, event, item, account, asset, amount)
    values ('q', 0, 'money of no payment', 'py-paid', 'provider_id', 'IDR', 1641300),
      ('q', 1, 'money of no payment', 'py-paid', 'suspense', 'IDR', -1641300)`
  await sql`insert into payments.journal (posting, line, event, item, account, asset, amount)
    values ('p', 0, 'late money came', 'late', 'provider_id', 'IDR', 1641300),
      ('p', 1, 'late money came', 'late', 'suspense', 'IDR', -1641300)`
  for (const [id, state] of [
    ['opening', 'opening'],
    ['accepted', 'taking'],
  ] as const)
    await sql`insert into payouts.payouts ${sql({
      id,
      state,
      wallet,
      rate_minor_per_usd: '16413',
      ausd_micro: '5000000',
      spread_bps: 100,
      fiat_minor: '82065',
      quote_id: id,
      request_fingerprint: 'me',
      authorizer: wallet,
      channel_code: 'c',
      authorization_nonce: id,
      authorization: sql.json({}),
      bank_details: 'sealed',
      bank_details_key_id: 'k',
    })}`
  await putBack(sql, change)
  await putBack(sql, change)
  const db = drizzle(sql)
  const rows = [
    ...(await db.select().from(payments)).map((row) => [row.id, paymentPosition(row)] as const),
    ...(await db.select().from(cashouts)).map((row) => [row.id, cashoutPosition(row)] as const),
  ]
  const lines = [...(await db.select().from(paymentJournal)), ...(await db.select().from(payoutJournal))]
  const said = Map.groupBy(lines, ({ item }) => item)
  expect(rows).toHaveLength(12)
  for (const [id, wanted] of rows) expect([id, sorted(position(said.get(id) ?? []))]).toEqual([id, sorted(wanted)])
  expect(rows.filter(([, wanted]) => wanted.length > 0)).toHaveLength(9)
  const seconds =
    await sql`select id, object, payment_id, currency, amount_minor::text as minor from payments.anomalies`
  expect([...seconds]).toEqual([
    { id: 'paid_twice:ID:py-rest', object: 'py-rest', payment_id: 'rest', currency: 'IDR', minor: '700' },
  ])
  const early = await sql`select id, state, bank_details as details from payouts.payouts
    where id in ('opening', 'accepted') order by id`
  expect([...early]).toEqual([
    { id: 'accepted', state: 'taking', details: 'sealed' },
    { id: 'opening', state: 'returning', details: 'sealed' },
  ])
  expect(position(said.get('py-paid')!)).toEqual([])
  const events = new Set(lines.map(({ event }) => event))
  expect([...events].sort()).toEqual(['late money came', 'money of no payment', 'put back'])
})

test('a restore erases again what the backup brings back of an erased wallet, except newer data and the payees of paid cash-outs', async () => {
  // drizzle has replaced the serializers of the other connection.
  const sql = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
  const [erased, other] = [`0x${'e'.repeat(40)}`, `0x${'f'.repeat(40)}`]
  const [older, newer] = [new Date('2026-11-01T00:00:00Z'), new Date('2026-11-03T00:00:00Z')]
  const erasedAt = new Date('2026-11-02T00:00:00Z')
  const insert = async (
    of: string,
    id: string,
    state: string,
    createdAt: Date,
    nextCheckAt: Date | null = createdAt,
  ) => {
    await sql`insert into payouts.payouts ${sql({
      id,
      state,
      wallet: of,
      authorizer: of,
      quote_id: id,
      request_fingerprint: 'me',
      fiat_minor: 1,
      authorization: {},
      authorization_nonce: id,
      rate_minor_per_usd: 1,
      ausd_micro: 1,
      channel_code: 'ID_BCA',
      bank_details: 'box',
      bank_details_key_id: 'k',
      account_mark: 'mark',
      next_check_at: nextCheckAt,
      created_at: createdAt,
    })}`
    await sql`insert into gateway.identity_links (wallet, provider, provider_ref, created_at)
      values (${of}, 'persona', ${`inq-${id}`}, ${createdAt})`
  }
  for (const of of [erased, other]) {
    await sql`insert into gateway.users (wallet, country) values (${of}, 'ID')`
    await sql`insert into gateway.identities (wallet, state, provider, provider_ref, decided_at, revision)
      values (${of}, 'verified', 'persona', 'inq', ${older}, 1)`
    await insert(of, `open-${of}`, 'paying', older)
  }
  await insert(erased, 'paid', 'paid', older, null)
  await insert(erased, 'paid-by-provider', 'paying', older)
  await insert(erased, 'paid-then-reversed', 'paid', older)
  await insert(erased, 'since', 'paying', newer)
  const nothing = { payments: [], paid: [], payouts: [], returns: [], dropped: [], hold: [], transactions: [] }
  const asked = [{ wallet: erased, provider: 'persona' }]
  const again = {
    ...nothing,
    since: at,
    asked,
    erased: new Map([[erased, erasedAt]]),
    paidCashouts: ['paid-by-provider'],
  }
  await putBack(sql, again)
  await putBack(sql, again)

  const details = await sql`select id, bank_details, channel_code, account_mark from payouts.payouts
    where wallet in (${erased}, ${other}) order by id`
  expect(details.map((row) => Object.values(row))).toEqual([
    [`open-${erased}`, '', '', null],
    [`open-${other}`, 'box', 'ID_BCA', 'mark'],
    ['paid', 'box', 'ID_BCA', null],
    ['paid-by-provider', 'box', 'ID_BCA', null],
    ['paid-then-reversed', '', '', null],
    ['since', 'box', 'ID_BCA', 'mark'],
  ])
  const links = await sql`select provider_ref as ref from gateway.identity_links
    where wallet in (${erased}, ${other}) and provider_ref is not null order by 1`
  expect(links.map(({ ref }) => ref)).toEqual([`inq-open-${other}`, 'inq-since'])
  const identities = await sql`select u.country, i.state, i.provider_ref from gateway.users u
    join gateway.identities i using (wallet) where wallet in (${erased}, ${other}) order by wallet`
  expect(identities.map((row) => Object.values(row))).toEqual([
    [null, 'reset', null],
    ['ID', 'verified', 'inq'],
  ])
  await sql.end({ timeout: 1 })
})
