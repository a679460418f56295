import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres, { type Sql } from 'postgres'
import type { Ask } from '#platform/bus/ask'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { channelFault } from './channels'
import { findItems, type ItemCriteria } from './items'

let server: ScratchPostgres
let owner: Sql
let sql: Sql
const [ana, budi] = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`]

const hour = (of: number) => new Date(Date.UTC(2026, 2, 10, of))

beforeAll(async () => {
  server = await startScratchPostgres()
  owner = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
  sql = postgres(server.urlAs('ops', server.passwords.ops), { max: 2, onnotice: () => {} })
  const payment = (id: string, wallet: string, state: string, began: number, changed: number, fiat = 50_000) => owner`
    insert into payments.payments (id, kind, state, wallet, pair, currency, rate_minor_per_usd, fiat_minor, paid_minor,
      ausd_micro, quote_id, request_fingerprint, account, provider_payment_id, channel, created_at, updated_at)
    values (${id}, 'topup', ${state}, ${wallet}, 'USD/IDR', 'IDR', 16250, ${fiat}, ${fiat + 7}, 3076923, ${id}, 'f', 'ID',
      ${id}, 'QRIS', ${hour(began)}, ${hour(changed)})`
  const paidTwice = () => owner`
    insert into payments.anomalies (id, kind, account, object, payment_id, bank_receipt)
    values ('paid_twice:ID:py-2', 'paid_twice', 'ID', 'py-2', 'pay_slow', 'Ref-2')`
  const sharedReceipt = () => owner`
    insert into payments.anomalies (id, kind, account, object, payment_id, bank_receipt)
    select 'paid_twice:ID:' || id, 'paid_twice', 'ID', 'py-' || id, id, '777'
    from payments.payments where id in ('pay_big', 'pay_open')`
  await payment('pay_early', ana, 'credited', 1, 1)
  await payment('pay_slow', ana, 'credited', 0, 5)
  await payment('pay_open', budi, 'paid', 2, 2)
  await payment('pay_big', budi, 'credited', 4, 4, 900_000)
  await owner`update payments.payments set bank_receipt = '521802141667' where id = 'pay_early'`
  await owner`update payments.payments set bank_receipt = '0000 45' where id = 'pay_big'`
  await paidTwice()
  await sharedReceipt()
  await owner`
    insert into payouts.payouts (id, wallet, state, rate_minor_per_usd, ausd_micro, fiat_minor, quote_id,
      request_fingerprint, authorizer, authorization_nonce, "authorization", channel_code, bank_details,
      bank_details_key_id, created_at, updated_at)
    values ('out_1', ${ana}, 'paid', 16250, 3076923, 50000, 'q', 'f', ${ana}, 'n', '{}', 'ID_BCA', 'x', 'x',
      ${hour(3)}, ${hour(4)})`
  await owner`
    insert into chain_relayer.operation (id, kind, cause, wallet, payload, content_hash, leaves_micro, state, created_at,
      updated_at)
    values ('op_1', 'send', 'send_1', ${ana}, '{"ausd": "5000000"}', 'h', 0, 'settled', ${hour(6)}, ${hour(6)})`
})
afterAll(async () => {
  await Promise.all([owner, sql].map((one) => one?.end({ timeout: 1 })))
  await server?.[Symbol.asyncDispose]()
})

const found = async (criteria: ItemCriteria, max = 10) =>
  (await findItems({ sql }, criteria, max)).items.map(({ id }) => id)
const period = (when: 'created' | 'ended' | 'affected', from: number, to: number) => ({
  period: { when, from: hour(from), to: hour(to) },
})
const all = period('created', 0, 24)
const banks = async () => ['ID_MANDIRI', 'ID_BRI']

test('items that were created in a period are found, newest first, without its end', async () => {
  expect(await found(all)).toEqual(['pay_big', 'out_1', 'pay_open', 'pay_early', 'pay_slow'])
  expect(await found(period('created', 2, 4))).toEqual(['out_1', 'pay_open'])
  expect(await found(all, 1)).toEqual(['pay_big', 'out_1'])
})

test('a list is incomplete if a table has more items than were asked for', async () => {
  const lacks = async (max: number) => (await findItems({ sql }, all, max)).lacks
  expect([await lacks(3), await lacks(4)]).toEqual([['there are more: narrow the search'], []])
})

test('items that ended in a period are found by their last change, and none in progress', async () => {
  expect(await found(period('ended', 2, 5))).toEqual(['pay_big', 'out_1'])
  expect(await found(period('ended', 5, 6))).toEqual(['pay_slow'])
})

test('items affected by an outage are those in progress within it, also if they began before or are not over', async () => {
  expect(await found(period('affected', 2, 4))).toEqual(['out_1', 'pay_open', 'pay_slow'])
})

test.each([
  [
    'an amount that was asked for',
    { amount: { minor: 50_000n, currency: 'IDR' } },
    ['out_1', 'pay_open', 'pay_early', 'pay_slow'],
  ],
  ['an amount that was paid', { amount: { minor: 50_007n, currency: 'IDR' } }, ['pay_open', 'pay_early', 'pay_slow']],
  ['the same amount in another currency', { amount: { minor: 50_000n, currency: 'MYR' } }, []],
  ['an amount in AUSD', { amount: { minor: 3_076_923n, currency: 'AUSD' }, kind: 'cashout' }, ['out_1']],
  ['a state', { state: 'paid' }, ['out_1', 'pay_open']],
  ['a channel of a payment', { channel: 'QRIS', state: 'paid' }, ['pay_open']],
  ['a channel of a cash-out', { channel: 'ID_BCA' }, ['out_1']],
  ['a kind', { kind: 'settlement' }, []],
] as const)('items are found by %s', async (_, criteria, ids) => {
  expect(await found({ ...all, ...criteria })).toEqual([...ids])
})

test.each([
  ['its number on the payer’s receipt', '521802141667', ['pay_early']],
  ['that of a second payment, in any case', 'REF-2', ['pay_slow']],
  ['its number in groups, as a receipt may print it', '5218 0214 1667', ['pay_early']],
  ['a number that lost its leading zeros in a spreadsheet', '45', ['pay_big']],
  ['a number with the leading zeros that ours lacks', '00521802141667', ['pay_early']],
  ['a wildcard, not', '52180214166_', []],
  ['a number that two payments share', '777', ['pay_big', 'pay_open']],
  ['a part of a number, not', '5218', []],
])('a payment is found by %s', async (_, receipt, ids) => {
  expect(await found({ ...all, receipt })).toEqual(ids)
})

test('the items of a wallet are found without a period, with its sends', async () => {
  expect(await found({ wallet: ana })).toEqual(['send_1', 'out_1', 'pay_early', 'pay_slow'])
  expect(await found({ wallet: ana, amount: { minor: 5_000_000n, currency: 'AUSD' } })).toEqual(['send_1'])
  expect(await found({ wallet: ana, ...period('created', 3, 24) })).toEqual(['send_1', 'out_1'])
})

test.each([
  ['nonsense', false],
  ['ID_NONSENSE', false],
  ['QRIS', true],
  ['DANA', true],
  ['ID_BCA', true],
  ['ID_MANDIRI', true],
  ['NEW_WALLET', true],
])('the channel %p is known: %p', async (channel, isKnown) => {
  await owner`update payments.payments set channel = 'NEW_WALLET' where id = 'pay_big'`
  const fault = await channelFault(sql, { ...all, channel: channel.toUpperCase() }, banks)
  await owner`update payments.payments set channel = 'QRIS' where id = 'pay_big'`
  expect(fault === undefined).toBe(isKnown)
})

test('any bank may exist while the banks cannot be read', async () => {
  const fault = (channel: string) => channelFault(sql, { ...all, channel }, async () => undefined)
  expect(await fault('ID_MANDIRI')).toBeUndefined()
  expect(await fault('MANDIRI')).toBe('unknown channel MANDIRI; choose one of MANDIRI_VIRTUAL_ACCOUNT')
})

test('an unknown channel is answered with those like it, or with all', async () => {
  const fault = (channel: string) => channelFault(sql, { ...all, channel }, banks)
  expect(await fault('BCA')).toBe('unknown channel BCA; choose one of BCA_VIRTUAL_ACCOUNT, ID_BCA')
  expect(await fault('XYZ')).toMatch(/^unknown channel XYZ; choose one of .*\bID_BCA\b.*\bQRIS\b/)
})

test('a search by bank account counts the cash-outs that payouts cannot read', async () => {
  const payouts = async (_: unknown, { payoutIds }: { payoutIds: string[] }) => ({
    ok: { payoutIds: [], unreadable: payoutIds.length },
  })
  const list = await findItems({ sql, ask: async () => payouts as unknown as Ask }, { ...all, digits: '7890' }, 10)
  expect(list.items).toEqual([])
  expect(list.lacks).toEqual([expect.stringMatching(/^1 cash-out could not be judged/)])
})

test.each([
  ['payouts', async () => (() => Promise.reject(new Error('payouts is not running'))) as unknown as Ask],
  ['NATS', () => Promise.reject(new Error('NATS cannot be reached'))],
])('a search by bank account says so if %s does not answer, instead of failing', async (name, ask) => {
  const list = await findItems({ sql, ask }, { ...all, digits: '7890' }, 10)
  expect(list.items).toEqual([])
  expect(list.lacks).toEqual([expect.stringMatching(new RegExp(`only payouts can read bank accounts: ${name} `))])
})
