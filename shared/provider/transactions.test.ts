import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { openLog } from '#platform/log'
import { openProviderClient } from '#shared/provider/client'
import { ProviderBusy, ProviderUnknown } from '#shared/provider/problem'
import { type Listed, lacksTransactionRead, listTransactions } from '#shared/provider/transactions'

type Reply = (query: URLSearchParams) => Response
const seen: URL[] = []
let replies: Reply[] = []
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: (request) => {
    const url = new URL(request.url)
    seen.push(url)
    const reply = replies.length > 1 ? replies.shift()! : replies[0]!
    return reply(url.searchParams)
  },
})
afterAll(() => server.stop(true))
beforeEach(() => {
  seen.length = 0
})

const read = (order: Partial<Parameters<typeof listTransactions>[1]> = {}, requestsPerMinute = 60_000) =>
  listTransactions(
    openProviderClient({
      baseUrl: server.url.origin,
      secretKey: 'xnd_development_x',
      account: 'ID',
      requestsPerMinute,
      log: openLog('payments', 'silent'),
    }),
    { types: ['payment'], updatedFrom: new Date('2026-08-01T00:00:00Z'), ...order },
  )
const body =
  (text: string, init: ResponseInit = {}): Reply =>
  () =>
    new Response(text, init)
const page = (rows: unknown[], has_more: unknown = false): Reply =>
  body(JSON.stringify({ has_more, data: rows, links: [] }))
const problem = (status: number, code: string): Reply =>
  body(JSON.stringify({ error_code: code, message: 'Sari Dewi may not' }), { status })
const thrownBy = (work: Promise<unknown>) => work.then(() => undefined).catch((error) => error)

/** A payment as in the reference's sample, with fields of a recorded one; ids are replaced. */
const sample = {
  id: 'txn_aaaaaaaa-0000-4000-8000-000000000001',
  type: 'PAYMENT',
  status: 'SUCCESS',
  product_id: 'py-aaaaaaaa-0000-4000-8000-000000000002',
  reference_id: 'pay_1_1f2e3d4c-1',
  channel_category: 'EWALLET',
  channel_code: 'ID_SHOPEEPAY',
  account_identifier: null,
  currency: 'IDR',
  amount: 100_000,
  net_amount: 99_000,
  net_amount_currency: 'IDR',
  cashflow: 'MONEY_IN',
  settlement_status: 'PENDING',
  business_id: '6a10c0ffee00000000000b12',
  estimated_settlement_time: '2026-08-03T10:00:00Z',
  payment_date: null,
  created: '2026-08-01T09:59:00Z',
  updated: '2026-08-01T10:01:00.250Z',
  fee: { xendit_fee: 1_000, value_added_tax: 0, status: 'COMPLETED' },
  product_data: {
    capture_id: 'cptr-1',
    payment_request_id: 'pr-aaaaaaaa-0000-4000-8000-000000000003',
  },
}
const rowOf = async (change: object): Promise<Listed> => {
  replies = [page([{ ...sample, ...change }])]
  return (await read())[0]!
}

describe('a row of the list', () => {
  test('has type, amount, currency and time of a transaction', async () => {
    expect(await rowOf({})).toEqual({
      transactionId: 'txn_aaaaaaaa-0000-4000-8000-000000000001',
      type: 'payment',
      status: 'succeeded',
      productId: 'py-aaaaaaaa-0000-4000-8000-000000000002',
      paymentRequestId: 'pr-aaaaaaaa-0000-4000-8000-000000000003',
      reference: 'pay_1_1f2e3d4c-1',
      channel: 'ID_SHOPEEPAY',
      currency: 'IDR',
      amountMinor: 100_000n,
      cashflow: 'in',
      feeMinor: 1_000n,
      settlement: 'pending',
      settlesAt: new Date('2026-08-03T10:00:00Z'),
      created: new Date('2026-08-01T09:59:00Z'),
      updated: new Date('2026-08-01T10:01:00.250Z'),
    })
  })

  test.each([
    ['PAYMENT', 'payment'],
    ['REFUND', 'refund'],
    ['CHARGEBACK', 'chargeback'],
    ['DISBURSEMENT', 'payout'],
    ['RESERVES_HOLD', 'unknown'],
    ['payment', 'unknown'],
    ['constructor', 'unknown'],
    [7, 'unknown'],
    [null, 'unknown'],
  ] as const)('of type %p is of type %s', async (word, type) => {
    expect((await rowOf({ type: word })).type).toBe(type)
  })

  test.each([
    ['MONEY_IN', 'in'],
    ['MONEY_OUT', 'out'],
    ['money_out', null],
    ['constructor', null],
    [null, null],
    [undefined, null],
  ] as const)('of cashflow %p is %p', async (word, cashflow) => {
    expect((await rowOf({ cashflow: word })).cashflow).toBe(cashflow)
  })

  test.each([
    ['PENDING', 'pending'],
    ['SUCCESS', 'succeeded'],
    ['FAILED', 'failed'],
    ['VOIDED', 'voided'],
    ['REVERSED', 'reversed'],
    ['SUCCEEDED', 'unknown'],
    ['toString', 'unknown'],
    [null, 'unknown'],
  ] as const)('with status %p is %s', async (word, status) => {
    expect((await rowOf({ status: word })).status).toBe(status)
  })

  test.each([
    ['PENDING', 'pending'],
    ['SETTLED', 'settled'],
    ['EARLY_SETTLED', 'settled'],
    ['settled', null],
    ['constructor', null],
    [null, null],
    [undefined, null],
  ] as const)('with the settlement status %p has the settlement %p', async (word, settlement) => {
    expect((await rowOf({ settlement_status: word })).settlement).toBe(settlement)
  })

  test.each([
    ['2.22', 'MYR', 222n],
    ['2.220', 'MYR', 222n],
    ['6.555', 'MYR', null],
    ['10000.5', 'IDR', null],
    ['1e5', 'IDR', null],
    ['-5000', 'IDR', null],
    ['"5000"', 'IDR', 5_000n],
    ['null', 'IDR', null],
    ['6.55', 'SGD', null],
  ] as const)('of %s %s is %p in the smallest unit', async (text, currency, amountMinor) => {
    const row = JSON.stringify({ ...sample, currency, amount: 1 })
    const exactly = row.replace('"amount":1,', `"amount":${text},`)
    replies = [body(`{"has_more":false,"data":[${exactly}]}`)]
    expect((await read())[0]!.amountMinor).toBe(amountMinor)
  })

  const fee = { xendit_fee: 4_000, value_added_tax: 440, status: 'COMPLETED' }
  const withheld = { xendit_withholding_tax: 80, third_party_withholding_tax: 0 }
  test.each([
    [fee, 4_440n],
    [{ ...fee, ...withheld }, 4_520n],
    [{ ...fee, xendit_fee: '4000.00' }, 4_440n],
    [{ ...fee, status: 'NOT_APPLICABLE' }, 0n],
    [{ ...fee, status: 'CANCELED' }, 0n],
    [{ ...fee, status: 'REVERSED' }, 0n],
    [{ ...fee, status: 'PENDING' }, null],
    [{ ...fee, status: 'toString' }, null],
    [{ xendit_fee: 4_000, status: 'COMPLETED' }, null],
    [{ ...fee, xendit_fee: 4_000.5 }, null],
    [{ ...fee, xendit_fee: -1 }, null],
    [{ ...fee, third_party_withholding_tax: 'none' }, null],
    ['4000', null],
    [null, null],
  ])('with the fee %o has the fee %p', async (given, feeMinor) => {
    expect((await rowOf({ fee: given })).feeMinor).toBe(feeMinor)
  })

  test.each(['', 'a\0', 'x'.repeat(256), 7, null])(
    'has no reference if the provider returns %p, which cannot be stored or is no text',
    async (word) => {
      expect((await rowOf({ reference_id: word })).reference).toBeNull()
    },
  )

  test('with only an id is of unknown type and status', async () => {
    const unknown = { type: 'unknown', status: 'unknown' } as const
    const nothing = {
      productId: null,
      paymentRequestId: null,
      reference: null,
      channel: null,
      currency: null,
      amountMinor: null,
      cashflow: null,
      feeMinor: null,
      settlement: null,
      settlesAt: null,
      created: null,
      updated: null,
    }
    const bare: Listed = { transactionId: 'txn_1', ...unknown, ...nothing }
    replies = [page([{ id: 'txn_1' }])]
    expect(await read()).toEqual([bare])
    const nulls = Object.fromEntries(Object.keys(sample).map((name) => [name, null]))
    expect(await rowOf({ ...nulls, id: 'txn_1' })).toEqual(bare)
    const empty = Object.fromEntries(Object.keys(sample).map((name) => [name, '']))
    expect(await rowOf({ ...empty, id: 'txn_1' })).toEqual(bare)
  })

  test.each(['../balance', 'py-1?x=y', 'py 1', 'x'.repeat(81), 5, {}])(
    'security: with the product id %p has none, because it would become part of a path',
    async (product_id) => {
      expect((await rowOf({ product_id })).productId).toBeNull()
    },
  )
})

describe('reading the list', () => {
  test('repeats the parameter types, filters by time of change, and takes fifty rows at a time', async () => {
    replies = [page([])]
    const types = ['payment', 'refund', 'chargeback', 'payout'] as const
    expect(await read({ types, updatedTo: new Date('2026-08-02T00:00:00Z') })).toEqual([])
    const [{ pathname, searchParams }] = seen as [URL]
    expect(pathname).toBe('/transactions')
    expect([...searchParams]).toEqual([
      ...['PAYMENT', 'REFUND', 'CHARGEBACK', 'DISBURSEMENT'].map((type): [string, string] => ['types', type]),
      ['updated[gte]', '2026-08-01T00:00:00.000Z'],
      ['updated[lte]', '2026-08-02T00:00:00.000Z'],
      ['limit', '50'],
    ])
  })

  test('fetches page after page until there is no more', async () => {
    replies = [page([{ id: 'txn_1' }, { id: 'txn_2' }], true), page([{ id: 'txn_3' }], true), page([{ id: 'txn_4' }])]
    const ids = (await read()).map(({ transactionId }) => transactionId)
    expect(ids).toEqual(['txn_1', 'txn_2', 'txn_3', 'txn_4'])
    expect(seen.map(({ searchParams }) => searchParams.get('after_id'))).toEqual([null, 'txn_2', 'txn_3'])
    expect(new Set(seen.map(({ searchParams }) => searchParams.get('updated[gte]'))).size).toBe(1)
  })

  test('uses one budget of calls for all pages', async () => {
    const spent = { 'Rate-Limit-Remaining': '0', 'Rate-Limit-Reset': '100' }
    const more = JSON.stringify({ has_more: true, data: [{ id: 'txn_1' }] })
    replies = [body(more, { headers: spent }), page([])]
    expect(await thrownBy(read())).toBeInstanceOf(ProviderBusy)
    expect(seen.length).toBe(1)
  })

  test('is read to its end even if its share of calls allows one every four seconds', async () => {
    const more = (id: string) => page([{ id }], true)
    replies = [more('txn_1'), more('txn_2'), more('txn_3'), page([{ id: 'txn_4' }])]
    const ids = (await read({}, 36)).map(({ transactionId }) => transactionId)
    expect(ids).toEqual(['txn_1', 'txn_2', 'txn_3', 'txn_4'])
  })
})

describe('a list that may be incomplete is rejected:', () => {
  const one = { id: 'txn_1' }
  const cases: [string, Reply[]][] = [
    ['a server that fails', [problem(500, 'SERVER_ERROR')]],
    ['a page of HTML', [body('<html>busy</html>')]],
    ['a path that is gone', [problem(404, 'DATA_NOT_FOUND')]],
    ['a query that is refused', [problem(400, 'API_VALIDATION_ERROR')]],
    ['a second page that fails', [page([one], true), problem(503, 'CHANNEL_UNAVAILABLE')]],
    ['no word about more', [page([one], null)]],
    ['nothing where the rows should be', [body('{"has_more":false,"data":null}')]],
    ['a row without an id', [page([one, { ...sample, id: null }])]],
    ['a row that is none', [page([one, null])]],
  ]
  test.each(cases)('%s', async (_, answers) => {
    replies = answers
    expect(await thrownBy(read())).toBeInstanceOf(ProviderUnknown)
  })

  test.each([
    ['no rows where there is more', [], 1],
    ['the same page again', [one], 2],
  ])('%s, noticed at once', async (_, rows, calls) => {
    replies = [page(rows, true)]
    const error = await thrownBy(read())
    expect(error).toBeInstanceOf(ProviderUnknown)
    expect(error.message).toContain('returned no further ones')
    expect(seen.length).toBe(calls)
  })

  test('more pages than allowed', async () => {
    replies = [() => page([{ id: `txn_${seen.length}` }], true)(new URLSearchParams())]
    const error = await thrownBy(read({ pagesMax: 3 }))
    expect(error).toBeInstanceOf(ProviderUnknown)
    expect(error.message).toContain('more than 3 pages')
    expect(seen.length).toBe(3)
  })

  test('too many calls', async () => {
    replies = [body('{}', { status: 429, headers: { 'Retry-After': '100' } })]
    const error = await thrownBy(read())
    expect(error).toBeInstanceOf(ProviderBusy)
    expect(error.retryAfterMs).toBeGreaterThan(98_000)
  })
})

describe('a refused read of the list', () => {
  test.each([
    [403, 'REQUEST_FORBIDDEN_ERROR', true],
    [403, 'REQUEST_FORBIDDEN', true],
    [403, 'SOME_NEW_WORD', true],
    [403, 'UNAUTHORIZED_SENDER_IP', false],
    [401, 'INVALID_API_KEY', false],
    [404, 'DATA_NOT_FOUND', false],
  ] as const)('with %i %s means a missing permission: %p', async (status, code, lacks) => {
    replies = [problem(status, code)]
    const error = await thrownBy(read())
    expect(error).toBeInstanceOf(ProviderUnknown)
    expect(error.refusal).toMatchObject({ status, code })
    expect(lacksTransactionRead(error)).toBe(lacks)
    expect(error.message).not.toContain('Sari Dewi')
  })

  test('by a proxy between us and the provider proves nothing about permissions', async () => {
    replies = [body('<html>no</html>', { status: 403 })]
    const error = await thrownBy(read())
    expect(error).toBeInstanceOf(ProviderUnknown)
    expect(lacksTransactionRead(error)).toBe(false)
    expect(lacksTransactionRead(new Error('403'))).toBe(false)
  })
})
