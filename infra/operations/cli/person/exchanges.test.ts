import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import postgres, { type Sql } from 'postgres'
import { recordsCsv } from '#infra/operations/csv'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { exchangeColumns, exchangeRows, readExchanges } from './exchanges'

let server: ScratchPostgres
let owner: Sql
let sql: Sql
const wallet = `0x${'ab'.repeat(20)}`

beforeAll(async () => {
  server = await startScratchPostgres()
  owner = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
  sql = postgres(server.urlAs('ops', server.passwords.ops), { max: 2, onnotice: () => {} })
})
afterAll(async () => {
  await Promise.all([owner, sql].map((one) => one?.end({ timeout: 1 })))
  await server?.[Symbol.asyncDispose]()
})

const payment = (id: string, of = wallet, currency: 'IDR' | 'MYR' = 'IDR') => owner`
  insert into payments.payments (id, kind, state, wallet, pair, currency, rate_minor_per_usd, fiat_minor, ausd_micro,
    quote_id, request_fingerprint, account, provider_payment_id)
  values (${id}, 'topup', 'credited', ${of}, ${`USD/${currency}`}, ${currency}, ${currency === 'IDR' ? 16250 : 425}, 1, 1,
    ${id}, 'f', ${currency === 'IDR' ? 'ID' : 'MY'}, ${id})`

type Line = readonly [account: string, asset: string, amount: number]
const post = async (
  schema: 'payments' | 'payouts',
  item: string,
  event: string,
  at: string,
  lines: readonly Line[],
  reverses: string | null = null,
) => {
  const rows = lines.map(([account, asset, amount], line) => ({
    posting: `${item}/${event}`,
    line,
    event,
    item,
    account,
    asset,
    amount,
    booked_at: at,
    reverses,
  }))
  await owner`insert into ${owner(schema)}.journal ${owner(rows)}`
}
/** Lines of Rp 1,625,000 for 100 AUSD, with a spread of half an AUSD. */
const bought = (sign: number): Line[] => [
  ['provider_id', 'IDR', sign * 1_625_000],
  ['exchange', 'IDR', sign * -1_625_000],
  ['promises', 'AUSD', sign * -100_000_000],
  ['exchange', 'AUSD', sign * 100_500_000],
  ['spread', 'AUSD', sign * -500_000],
]
const fileOf = async (year: string) => exchangeRows((await readExchanges(sql, wallet, year))!)
const short = async (year: string) =>
  (await fileOf(year)).map(({ time, item, fiat_paid, fiat_received, ausd_paid, ausd_received, fee }) => [
    time,
    item,
    fiat_paid,
    fiat_received,
    ausd_paid,
    ausd_received,
    fee,
  ])

test('a year has each exchange from the side of the user, and a refund in the year in which it was booked', async () => {
  await payment('pay_1')
  await payment('pay_other', `0x${'cd'.repeat(20)}`)
  await post('payments', 'pay_1', 'awaiting_payment → paid', '2025-06-01T03:00:00Z', bought(1))
  await post('payments', 'pay_other', 'awaiting_payment → paid', '2025-06-01T03:00:00Z', bought(1))
  await post('payments', 'pay_1', 'paid → credited', '2025-06-01T03:01:00Z', [
    ['promises', 'AUSD', 100_000_000],
    ['treasury', 'AUSD', -100_000_000],
  ])
  const before = await fileOf('2025')
  await post('payments', 'pay_1', 'refund counted', '2026-02-01T03:00:00Z', bought(-1))
  expect(await fileOf('2025')).toEqual(before)
  expect(await short('2025')).toEqual([
    ['2025-06-01T10:00:00.000+07:00', 'pay_1', '1625000', '0', '0.000000', '100.000000', '0.500000'],
  ])
  expect(await short('2026')).toEqual([
    ['2026-02-01T10:00:00.000+07:00', 'pay_1', '0', '1625000', '100.000000', '0.000000', '-0.500000'],
  ])
})

test('the fee of a top-up is part of the money that was paid, and comes back with a refund', async () => {
  await payment('pay_fee')
  const charged = (times: 1 | -2, of = 1) =>
    [
      ['provider_id', 'IDR', (1_625_000 * times) / of],
      ['exchange', 'IDR', (-1_560_000 * times) / of],
      ['fees_earned', 'IDR', (-65_000 * times) / of],
      ['exchange', 'AUSD', (96_000_000 * times) / of],
      ['promises', 'AUSD', (-96_000_000 * times) / of],
    ] as [string, string, number][]
  await post('payments', 'pay_fee', 'awaiting_payment → paid', '2020-06-01T03:00:00Z', charged(1))
  await post('payments', 'pay_fee', 'refund counted', '2020-07-01T03:00:00Z', charged(-2, 4))
  const rows = (await fileOf('2020')).filter(({ item }) => item === 'pay_fee')
  expect(rows).toMatchObject([
    { fiat_paid: '1625000', ausd_received: '96.000000', fee: '0.000000', fee_currency: 'AUSD', topup_fee: '65000' },
    { fiat_received: '812500', ausd_paid: '48.000000', fee: '0.000000', topup_fee: '-32500' },
  ])
})

test('a payment that is priced again in a later year keeps its rate in the file of the year before', async () => {
  const paid = 'awaiting_payment → paid'
  /** Lines of Rp 1,625,000 for so much AUSD. */
  const priced = (micro: number): Line[] => [
    ['provider_id', 'IDR', 1_625_000],
    ['exchange', 'IDR', -1_625_000],
    ['promises', 'AUSD', -micro],
    ['exchange', 'AUSD', micro],
  ]
  const setLate = (id: string, rate: number) =>
    owner`update payments.payments set late_rate_minor_per_usd = ${rate} where id = ${id}`
  await Promise.all(['pay_again', 'pay_late_again'].map((id) => payment(id)))
  await post('payments', 'pay_again', paid, '2015-12-31T03:00:00Z', priced(100_000_000))
  await setLate('pay_late_again', 16_300)
  await post('payments', 'pay_late_again', paid, '2015-12-31T03:00:01Z', priced(99_693_251))
  const before = await fileOf('2015')
  expect(before.map(({ rate }) => rate)).toEqual(['16250', '16300'])
  for (const id of ['pay_again', 'pay_late_again']) await setLate(id, 16_900)
  await post('payments', 'pay_again', 'review → paid', '2016-01-02T03:00:00Z', [
    ['exchange', 'AUSD', -3_846_154],
    ['promises', 'AUSD', 3_846_154],
  ])
  expect(await fileOf('2015')).toEqual(before)
  expect(await fileOf('2016')).toMatchObject([{ item: 'pay_again', ausd_paid: '3.846154', rate: '16900' }])
})

test('a cash-out is AUSD paid for local money, and the spread given with it is a negative fee in rupiah', async () => {
  await owner`
    insert into payouts.payouts (id, wallet, state, rate_minor_per_usd, ausd_micro, fiat_minor, quote_id,
      request_fingerprint, authorizer, authorization_nonce, "authorization", channel_code, bank_details, bank_details_key_id)
    values ('out_1', ${wallet}, 'paid', 16250, 1, 1, 'q', 'f', ${wallet}, 'n', '{}', 'ID_BCA', 'x', 'x')`
  await post('payouts', 'out_1', 'taking → taken', '2024-06-01T03:00:00Z', [
    ['treasury', 'AUSD', 2_000_000],
    ['exchange', 'AUSD', -2_000_000],
    ['exchange', 'IDR', 32_400],
    ['spread', 'IDR', 100],
    ['payouts', 'IDR', -32_500],
  ])
  const row = (await fileOf('2024'))[0]!
  expect(row).toMatchObject({ kind: 'cashout', ausd_paid: '2.000000', fiat_received: '32500', rate: '16250' })
  expect([row.fee, row.fee_currency]).toEqual(['-100', 'IDR'])
})

test('the file has no word of an operator', async () => {
  await post('payouts', 'out_1', 'reversed: Sari asked, ticket 12', '2021-06-01T03:00:00Z', [
    ['exchange', 'AUSD', 1],
    ['treasury', 'AUSD', -1],
  ])
  const [row] = await fileOf('2021')
  expect(row!.event).toBe('reversed')
})

test('a year begins at midnight in the country of the money', async () => {
  await payment('pay_id')
  await payment('pay_my', wallet, 'MYR')
  const at = '2022-12-31T16:30:00Z'
  await post('payments', 'pay_id', 'awaiting_payment → paid', at, bought(1))
  await post('payments', 'pay_my', 'awaiting_payment → paid', at, [
    ['provider_my', 'MYR', 42_500],
    ['exchange', 'MYR', -42_500],
  ])
  expect((await short('2022')).map(([, item]) => item)).toEqual(['pay_id'])
  expect(await short('2023')).toEqual([
    ['2023-01-01T00:30:00.000+08:00', 'pay_my', '425.00', '0.00', '0.000000', '0.000000', '0.000000'],
  ])
})

describe('a correction of the books is no exchange of the user', () => {
  const paid = 'awaiting_payment → paid'
  const less = (sign: number): Line[] => [
    ['provider_id', 'IDR', sign * 162_500],
    ['exchange', 'IDR', sign * -162_500],
    ['promises', 'AUSD', sign * -10_000_000],
    ['exchange', 'AUSD', sign * 10_000_000],
  ]
  const reverse = (item: string, of: string, at: string, lines: readonly Line[], event = 'reversed: ticket 12') =>
    post('payments', item, event, at, lines, `${item}/${of}`)
  const listed = async (year: string, item: string) =>
    (await fileOf(year)).filter((row) => row.item === item).map((row) => [row.event, row.fiat_paid, row.fiat_received])

  test('a posting that was reversed and booked again as it was is listed once, at its own time', async () => {
    await payment('pay_same')
    await post('payments', 'pay_same', paid, '2019-03-01T03:00:00Z', bought(1))
    await reverse('pay_same', paid, '2019-03-02T03:00:00Z', bought(-1))
    await post('payments', 'pay_same', 'booked anew', '2019-03-02T03:00:05Z', bought(1))
    expect(await listed('2019', 'pay_same')).toEqual([[paid, '1625000', '0']])
    await reverse('pay_same', 'booked anew', '2019-03-03T03:00:00Z', bought(-1), 'reversed: again')
    expect(await listed('2019', 'pay_same')).toEqual([])
  })

  test('a posting that was wrong is replaced by what was booked for it', async () => {
    await payment('pay_wrong')
    await post('payments', 'pay_wrong', paid, '2019-03-01T03:00:00Z', bought(1))
    await reverse('pay_wrong', paid, '2019-03-02T03:00:00Z', bought(-1))
    await post('payments', 'pay_wrong', 'booked anew', '2019-03-02T03:00:05Z', less(1))
    expect(await listed('2019', 'pay_wrong')).toEqual([['booked anew', '162500', '0']])
  })

  test('a correction of an earlier year leaves its file as it was, and is listed only if it changes an amount', async () => {
    for (const id of ['pay_late_same', 'pay_late_wrong']) {
      await payment(id)
      await post('payments', id, paid, '2017-03-01T03:00:00Z', bought(1))
      await reverse(id, paid, '2018-03-02T03:00:00Z', bought(-1))
    }
    await post('payments', 'pay_late_same', 'booked anew', '2018-03-02T03:00:05Z', bought(1))
    await post('payments', 'pay_late_wrong', 'booked anew', '2018-03-02T03:00:05Z', less(1))
    for (const id of ['pay_late_same', 'pay_late_wrong'])
      expect(await listed('2017', id)).toEqual([[paid, '1625000', '0']])
    expect(await listed('2018', 'pay_late_same')).toEqual([])
    expect(await listed('2018', 'pay_late_wrong')).toEqual([
      ['reversed', '0', '1625000'],
      ['booked anew', '162500', '0'],
    ])
  })

  test('a refund is listed, whatever it has in common with a reversal', async () => {
    await payment('pay_back')
    await post('payments', 'pay_back', paid, '2019-03-01T03:00:00Z', bought(1))
    await post('payments', 'pay_back', 'refunding → refunded', '2019-03-02T03:00:00Z', bought(-1))
    expect(await listed('2019', 'pay_back')).toHaveLength(2)
  })
})

test('the file has fixed columns, and says whether its year is over', async () => {
  const [head, line] = recordsCsv(exchangeColumns, await fileOf('2024')).split('\n')
  expect(head).toBe(exchangeColumns.join(','))
  expect(head).toBe(
    'year,status,time,kind,item,event,currency,fiat_paid,fiat_received,ausd_paid,ausd_received,rate,fee,fee_currency,topup_fee',
  )
  expect(line).toStartWith('2024,final,2024-06-01T10:00:00.000+07:00,cashout,out_1,')
  expect(await readExchanges(sql, wallet, '2098')).toBeUndefined()
  const [{ year }] = (await owner`select to_char(now() at time zone 'Asia/Jakarta', 'YYYY') as year`) as [
    { year: string },
  ]
  expect((await readExchanges(sql, wallet, year))!.status).toBe('open')
})
