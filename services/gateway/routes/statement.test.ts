import { describe, expect, test } from 'bun:test'
import { schemaReader } from '#platform/schema'
import type { RouteAnswer } from '#shared/api/route'
import { GetStatement } from '#shared/api/statement'
import type { ActivityEntry } from '#shared/messages/activity'
import { balanceNames, type StatementEntry } from '#shared/messages/statement'
import { errorOf, fixtureOf, okay, type Replies, refusing } from '../test-support/fixture'
import { ana, headerOf, walletOf } from '../test-support/wallets'
import { receiptOf } from './receipt'
import { csvOf, timeFrom } from './statement'

test('the example of a statement is the same in both formats', () => {
  const { answer, text } = GetStatement.example
  expect(text?.['text/csv']).toBe(csvOf(answer as RouteAnswer<typeof GetStatement>))
})

const ref = `0x${'cd'.repeat(32)}` as const
const txHash = `0x${'ab'.repeat(32)}` as const
const id = 'pay_Zk3nT0a7yQm1c5VbXw9uRd'
const line = (at: string, over: Partial<StatementEntry>): StatementEntry => ({
  at: `2026-11-${at}T07:00:00.000Z`,
  kind: 'drawn',
  ausd: '7',
  in: {},
  out: {},
  refs: [],
  ...over,
})
const paid: Partial<StatementEntry> = {
  kind: 'topup',
  id,
  pair: 'USD/IDR',
  fiat: '50000',
  refs: [ref],
}
const until = '2026-11-26T00:00:00.000Z'
const replies: Replies = {
  'indexer.statement': okay({
    until,
    opening: { collateral: '5', debt: '1' },
    items: [
      line('21', { kind: 'collateral_added', in: { collateral: '9' }, txHash, refs: [ref] }),
      line('23', { in: { debt: '7' } }),
    ],
  }),
  'payments.statement': okay({
    opening: { inFlight: '2' },
    items: [line('20', paid), line('24', { ...paid, id: `${id.slice(0, -1)}X`, in: { inFlight: '3' }, refs: [] })],
  }),
  'payouts.statement': okay({
    opening: { inFlight: '1', payouts: '100' },
    items: [line('22', { kind: 'cashout', out: { payouts: '40' } })],
  }),
}
const fixture = await fixtureOf(replies)
const get = async (query = '', headers: Record<string, string> = {}) => {
  fixture.asked.length = 0
  const authorization = await headerOf(ana)
  return fixture.call('GET', `/me/statement${query}`, { headers: { authorization, ...headers } })
}
const november = '?from=2026-11-01&to=2026-12-01'

describe('GET /me/statement', () => {
  test('merges the parts: a payment is one line with its event on the chain', async () => {
    const response = await get(november)
    const statement = await response.json()
    expect(schemaReader(GetStatement.answer)(structuredClone(statement))).not.toHaveProperty('fault')
    expect(statement).toMatchObject({
      wallet: walletOf(ana),
      from: '2026-11-01T00:00:00.000Z',
      asOf: until,
      opening: { collateral: '5', debt: '1', inFlight: '3', payouts: '100' },
      closing: { collateral: '14', debt: '8', inFlight: '6', payouts: '60' },
    })
    const lines = statement.items.map((one: StatementEntry) => [one.kind, one.id, one.fiat])
    expect(lines).toEqual([
      ['collateral_added', id, '50000'],
      ['cashout', undefined, undefined],
      ['drawn', undefined, undefined],
      ['topup', `${id.slice(0, -1)}X`, '50000'],
    ])
    expect(statement.items[0]).not.toHaveProperty('refs')
  })

  test('names the fee of a payment in the line of its event on the chain, also as CSV, and not where the money goes back', async () => {
    const added = line('21', { kind: 'collateral_added', in: { collateral: '9' }, txHash, refs: [ref] })
    const revoked = line('22', { kind: 'topup_revoked', out: { collateral: '9' }, txHash, refs: [ref] })
    const charged = await fixtureOf({
      ...replies,
      'indexer.statement': okay({ until, opening: {}, items: [added, revoked] }),
      'payments.statement': okay({ opening: {}, items: [line('20', { ...paid, fee: '350' })] }),
    })
    const read = async (format: string) => {
      const headers = { authorization: await headerOf(ana) }
      return charged.call('GET', `/me/statement${november}&format=${format}`, { headers })
    }
    const { items } = await (await read('json')).json()
    expect(items.map(({ kind, fiat, fee }: StatementEntry) => [kind, fiat, fee])).toEqual([
      ['collateral_added', '50000', '350'],
      ['topup_revoked', '50000', undefined],
      ['cashout', undefined, undefined],
    ])
    const [head, , first] = (await (await read('csv')).text()).split('\r\n')
    expect(first!.split(',')[head!.split(',').indexOf('fee')]).toBe('350')
  })

  test('reads every part for the wallet of the session, up to the newest final block', async () => {
    await get(`${november}&wallet=0x${'1'.repeat(40)}`)
    const from = '2026-11-01T00:00:00.000Z'
    const wallet = walletOf(ana)
    expect(fixture.asked).toEqual([
      ['indexer.statement', { wallet, from, to: '2026-12-01T00:00:00.000Z' }],
      ['payments.statement', { wallet, from, to: until }],
      ['payouts.statement', { wallet, from, to: until }],
    ])
  })

  test.each([
    ['?format=csv', {}],
    ['', { accept: 'text/csv' }],
  ])('is CSV with %s and %p, whose columns in and out have equal sums', async (query, headers) => {
    const response = await get(`${november}${query.replace('?', '&')}`, headers)
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(response.headers.get('content-disposition')).toContain('.csv"')
    const [head, ...rows] = (await response.text()).trimEnd().split('\r\n')
    expect(rows).toHaveLength(6)
    const names = head!.split(',')
    const sum = (name: string) => rows.reduce((total, row) => total + BigInt(row.split(',')[names.indexOf(name)]!), 0n)
    for (const name of balanceNames) expect(sum(`${name}In`)).toBe(sum(`${name}Out`))
  })

  test.each([
    [null, '2026-11-01T00:00:00.000Z'],
    ['SG', '2026-11-01T00:00:00.000Z'],
    ['ID', '2026-10-31T17:00:00.000Z'],
    ['MY', '2026-10-31T16:00:00.000Z'],
  ])('begins at midnight in the country of the user: %s', async (country, from) => {
    if (country) await fixture.users.setCountry(walletOf(ana), country)
    expect((await (await get(november)).json()).from).toBe(from)
  })

  test.each([
    ['text/csv', 'text/csv'],
    ['Text/CSV; header=present; q=0.5, application/json;q=0.5', 'text/csv'],
    ['text/csv;q=0', 'application/json'],
    ['application/json, text/csv;q=0.1', 'application/json'],
    ['text/csv-schema', 'application/json'],
    ['*/*', 'application/json'],
    ['text/csv;q=x', 'application/json'],
  ])('with Accept: %s is %s', async (accept, type) => {
    const response = await get(november, { accept })
    expect(response.headers.get('content-type')).toStartWith(type)
  })

  test.each([
    ['?from=2026-02-31', 'from must be a date or a time with its zone, as in 2026-11-21 or 2026-11-21T17:00:00Z'],
    ['?to=now', 'to must be a date or a time with its zone, as in 2026-11-21 or 2026-11-21T17:00:00Z'],
    ['?from=2026-11-02&to=2026-11-02', 'from must be before to'],
    ['?from=2025-01-01&to=2026-11-01', 'a statement covers at most 366 days'],
    ['?format=pdf', 'format must be json or csv'],
  ])('refuses %s', async (query, message) => {
    const response = await get(query)
    expect([response.status, await errorOf(response)]).toEqual([400, message])
    expect(fixture.asked).toEqual([])
  })

  test('is refused while a part cannot be read, and if the period has too many items', async () => {
    const over = (subject: string, reply: () => unknown) => fixtureOf({ ...replies, [subject]: reply })
    const answer = async (other: typeof fixture) => {
      const headers = { authorization: await headerOf(ana) }
      return (await other.call('GET', `/me/statement${november}`, { headers })).status
    }
    expect(await answer(await over('indexer.statement', refusing('indexer_lags')))).toBe(503)
    expect(await answer(await over('payments.statement', refusing('statement_too_long')))).toBe(400)
    const { 'payouts.statement': _, ...others } = replies
    expect(await answer(await fixtureOf(others))).toBe(503)
  })
})

test.each([
  ['2026-11-28', '2026-11-28T00:00:00.000Z'],
  ['2026-11-28T07:00:00.250Z', '2026-11-28T07:00:00.250Z'],
  ['2026-11-28T00:00:00+07:00', '2026-11-27T17:00:00.000Z'],
  ['2026-11-28T00:00:00-03:30', '2026-11-28T03:30:00.000Z'],
  // A plus that is not encoded in a query is a blank.
  ['2026-11-28T00:00:00 08:00', '2026-11-27T16:00:00.000Z'],
])('%s as a time of a period is %s', (text, at) => expect(timeFrom(text)).toBe(Date.parse(at)))
test.each([
  ['ID', '?from=2026-11-01&to=2026-12-01', 'statement-2026-11-01-2026-12-01.csv'],
  ['MY', '?from=2028-02-01&to=2028-02-29', 'statement-2028-02-01-2028-02-29.csv'],
  ['ID', '?from=2026-10-31T17:00:00Z&to=2026-11-30T17:00:00Z', 'statement-2026-11-01-2026-12-01.csv'],
])('the file of a statement is named after days in the country of the user: %s, %s', async (country, query, name) => {
  await fixture.users.setCountry(walletOf(ana), country)
  const response = await get(`${query}&format=csv`)
  expect(response.headers.get('content-disposition')).toContain(`"${name}"`)
})

test('a date in a country is one of its days', () => {
  expect(timeFrom('2026-11-28', 7)).toBe(Date.parse('2026-11-27T17:00:00.000Z'))
  expect(timeFrom('2026-11-28T00:00:00Z', 7)).toBe(Date.parse('2026-11-28T00:00:00.000Z'))
})
test.each([
  '2026-11-28T00:00:00+15:00',
  '2026-11-28T00:00:00+07:60',
  '2026-11-28T00:00:00+07',
  '2026-02-31T00:00:00+07:00',
  '2026-11-28+07:00',
  '2026-13-01',
  '2026-11-21T25:00:00Z',
  '2026-11-21 07:00',
  '1969-12-31',
  '20261121',
])('%s is no time of a period', (text) => expect(timeFrom(text)).toBeUndefined())

const item: ActivityEntry = {
  id,
  kind: 'topup',
  status: 'credited',
  inFlight: false,
  nextAction: null,
  sentence: '<b>&',
  pair: 'USD/MYR',
  fiat: '500',
  rate: '424',
  ausd: '3076923',
  method: 'qr',
  channel: 'qr',
  txHash,
  createdAt: '2026-11-21T07:00:00.000Z',
  updatedAt: '2026-11-21T07:01:00.000Z',
}

describe('the receipt of an item', () => {
  test('has amounts, times, transaction and id, and escapes every text', () => {
    const page = receiptOf(item, { language: 'en', zone: 'Asia/Kuala_Lumpur', contact: 'help@example.org' })
    for (const text of ['RM 5.00', 'RM 4.24 per dollar', '3.076923 AUSD', '21 November 2026, 15:00:00 MYT', txHash, id])
      expect(page).toContain(text)
    expect(page).toContain('&lt;b&gt;&amp;')
    expect(page).not.toMatch(/<script|<img|<link|<b>| style="|\son[a-z]+="/)
  })

  test('of a cash-out names its bank, and the last four digits of the account', () => {
    const bank = { name: '<Bank>', lastDigits: '7890' }
    const page = receiptOf(
      { ...item, kind: 'cashout', status: 'paid', bank },
      { language: 'id', zone: 'Asia/Jakarta', contact: 'help@example.org' },
    )
    expect(page).toContain('>Rekening bank</th><td>&lt;Bank&gt; •••• 7890</td>')
  })

  test('of an automatic repayment names its source, and no local currency', () => {
    const { pair: _, fiat, rate, method, channel, ...rest } = item
    const page = receiptOf(
      { ...rest, kind: 'autorepay', status: 'repaid', source: 'collateral' },
      { language: 'ms', zone: 'Asia/Kuala_Lumpur', contact: 'help@example.org' },
    )
    expect(page).toContain('Resit: Bayaran balik automatik')
    expect(page).toContain('>Dibayar daripada</th><td>Cagaran anda</td>')
    expect(page).not.toContain('RM')
  })

  test('is a page whose policy allows only its own style sheet, and names no wallet', async () => {
    const own = await fixtureOf({ 'payments.item': okay({ item }) })
    const headers = { authorization: await headerOf(ana) }
    const response = await own.call('GET', `/me/activity/${id}/receipt`, { headers })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const policy = response.headers.get('content-security-policy') ?? ''
    const page = await response.text()
    const [, styles] = /<style>([\s\S]*?)<\/style>/.exec(page) ?? []
    const hash = new Bun.CryptoHasher('sha256').update(styles!).digest('base64')
    expect(policy).toStartWith(`default-src 'none'; style-src 'sha256-${hash}'`)
    expect(policy).not.toMatch(/unsafe|script-src|https?:/)
    expect(page.toLowerCase()).not.toContain(walletOf(ana).slice(2))
    const unknown = await fixtureOf({ 'payments.item': okay({ item: null }) })
    expect((await unknown.call('GET', `/me/activity/${id}/receipt`, { headers })).status).toBe(404)
  })
})
