import { afterAll, beforeAll, beforeEach, describe, expect, setSystemTime, test } from 'bun:test'
import { waitUntil } from '#infra/local/wait'
import { openLog } from '#platform/log'
import { reverse } from '#shared/ledger/journal.store'
import { floorMinor } from '#shared/provider/balance'
import { openSandboxFixture, payoutBody, type SandboxFixture, sessionBody } from '#test/support/sandbox'
import { type BooksContext, openBooks } from '../context'
import { journal } from '../schema.store'
import { type BooksFixture, openBooksFixture } from '../test-support'
import { acceptAsCapital, reopenAccepted } from './accept'
import { standingPostings } from './journal.store'
import { ownReference, readProvider } from './provider'
import { insertCashout, insertPayment, journalOf, nonceOf } from './test-support'

let sandbox: SandboxFixture
let fixture: BooksFixture
const keys = { ID: 'key-id', MY: 'key-my' }
beforeAll(async () => {
  sandbox = await openSandboxFixture({ floatIdrMinor: 7_000_000n })
  fixture = await openBooksFixture({ url: sandbox.url, keys, requestsPerMinute: 60_000 })
  await insertPayment(fixture.admin, 'pay_first')
})
afterAll(async () => {
  await fixture.close()
  await sandbox[Symbol.asyncDispose]()
})
beforeEach(() => sandbox.control('faults', {}))

const read = (change: Partial<BooksContext> = {}) => readProvider(fixture.copy(change))
const rows = (where = '%') =>
  fixture.admin`
    select account, type, status, reference, product_id as "productId", currency,
      amount_minor as amount, fee_minor as fee
    from books.provider_moves where reference like ${where} order by created_at, product_id`
const id = (letter: string) => `pay_${letter.repeat(22)}`
const paid = async (reference_id: string, account: 'ID' | 'MY' = 'ID', amount = 150_000) => {
  const place = account === 'ID' ? {} : { currency: 'MYR', country: 'MY' }
  const body = sessionBody({ reference_id, amount, ...place })
  const session = await sandbox.call(account, '/sessions', body)
  const path = `sessions/${session.json.payment_session_id}/pay`
  return (await sandbox.control(path, account === 'ID' ? { channel_code: 'DANA' } : {})).json
}
const paidOut = async (accountNumber: string, status: string) => {
  const headers = { 'idempotency-key': crypto.randomUUID() }
  const { json } = await sandbox.call('ID', '/v2/payouts', payoutBody(accountNumber), headers)
  const path = `/v2/payouts/${json.id}`
  await waitUntil(status, async () => (await sandbox.get('ID', path)).json.status === status)
  return json
}

describe('the balance of an account', () => {
  const held = async (place: string) =>
    (await fixture.admin`select asset, amount from books.balances where place = ${place}`)[0]
  const booked = async (account: string) =>
    BigInt(
      (
        await fixture.admin<{ sum: string }[]>`
          select coalesce(sum(amount), 0)::text as sum from books.journal where account = ${account}`
      )[0]!.sum,
    )

  const laterMillisecond = async () => {
    const now = Date.now()
    await waitUntil('a later millisecond', () => Date.now() > now)
  }

  test('the opening balance is booked as capital once, and the current balance is stored', async () => {
    await paid('before-the-books', 'ID', 500_000)
    await laterMillisecond()
    await fixture.admin`update payments.payments set created_at = now() + interval '1 day'`
    await laterMillisecond()
    await paid('of-nobody', 'ID', 30_000)
    await Promise.all([read(), read(), read()])
    const opening = (place: string, lines: Record<string, bigint>) => [
      { event: 'opening balance', item: `opening:${place}`, reverses: false, lines },
    ]
    const journal = await journalOf(fixture.admin, ['opening:provider_id', 'opening:provider_my'])
    expect(journal).toEqual(opening('provider_id', { provider_id: 7_500_000n, capital: -7_500_000n }))
    expect(await held('provider_id')).toEqual({ asset: 'IDR', amount: '7530000' })
    expect(await held('provider_my')).toEqual({ asset: 'MYR', amount: '0' })
    const references = (await rows()).map(({ reference }) => reference as string)
    expect(references.filter((one) => one.startsWith('before-the-books'))).toEqual([])
    expect(references.filter((one) => one.startsWith('of-nobody'))).toHaveLength(1)
    const [{ sum }] = (await fixture.admin`
      select sum(amount_minor) as sum from books.provider_moves where account = 'ID'`) as unknown as [{ sum: string }]
    expect((await booked('provider_id')) + BigInt(sum)).toBe(7_530_000n)
  })

  test.each([
    ['1000', 'IDR', 1_000n],
    ['1000.5', 'IDR', 1_000n],
    ['-1000', 'IDR', -1_000n],
    ['-1000.5', 'IDR', -1_001n],
    ['12.3', 'MYR', 1_230n],
    ['12.349', 'MYR', 1_234n],
    ['-0.001', 'MYR', -1n],
    ['1e5', 'IDR', undefined],
    ['', 'IDR', undefined],
  ] as const)('a balance of %s %s is %p in the smallest unit', (text, currency, minor) => {
    expect(floorMinor(text, currency)).toBe(minor)
  })
})

test('movements of both accounts are stored with our reference, whatever their type', async () => {
  const payment = await paid(id('a'))
  expect(payment.reference_id).not.toBe(id('a'))
  await sandbox.control(`payments/${payment.payment_id}/refund`, {
    reference_id: `ordered-${id('a')}`,
  })
  await paid(id('b'), 'MY', 12.34)
  await paid('of-another-shop')
  const payout = await paidOut('1234567890', 'SUCCEEDED')
  await read()
  const common = { account: 'ID', status: 'succeeded', currency: 'IDR', fee: '0' }
  expect(await rows(id('a'))).toMatchObject([
    { ...common, type: 'payment', productId: payment.payment_id, amount: '150000' },
    { ...common, type: 'refund', reference: id('a'), amount: '150000' },
  ])
  expect(await rows(id('b'))).toMatchObject([{ account: 'MY', type: 'payment', currency: 'MYR', amount: '1234' }])
  expect(await rows('of-another-shop_%')).toHaveLength(1)
  expect(await rows(payout.reference_id)).toMatchObject([
    { ...common, type: 'payout', productId: payout.id, amount: '250000' },
  ])
})

test('a changed row is stored again, and an unchanged one stays as it was read', async () => {
  const payment = await paid(id('c'))
  const path = `payments/${payment.payment_id}/chargeback`
  const chargeback = (await sandbox.control(path, { status: 'PENDING' })).json
  await read()
  const readAt = async () =>
    (
      await fixture.admin`
        select type, status, read_at from books.provider_moves
        where reference = ${id('c')} order by type desc`
    ).map(({ type, status, read_at }) => ({ type, status, at: (read_at as Date).getTime() }))
  const before = await readAt()
  await sandbox.control(`chargebacks/${chargeback.id}`, { status: 'REVERSED' })
  await Promise.all([read(), read()])
  const after = await readAt()
  expect(after[0]).toEqual(before[0]!)
  expect(before[1]).toMatchObject({ type: 'chargeback', status: 'pending' })
  expect(after[1]).toMatchObject({ type: 'chargeback', status: 'reversed' })
  expect(after[1]!.at).toBeGreaterThan(before[1]!.at)
})

test('the first report of a pending settlement stays with the time of its reading, also once the payment is settled', async () => {
  const reference = id('s')
  await paid(reference)
  const settlement = async () =>
    (
      await fixture.admin`
        select unsettled_read_at as unsettled, settles_at as due, settled_read_at as settled
        from books.provider_moves where reference = ${reference}`
    )[0]!
  await read()
  const first = await settlement()
  expect(first).toEqual({ unsettled: expect.any(Date), due: expect.any(Date), settled: null })
  await read()
  expect(await settlement()).toEqual(first)
  const aheadMs = 5 * 86_400_000
  await sandbox.control('faults', { api: { clockAheadMs: aheadMs } })
  await read({ clock: () => Date.now() + aheadMs })
  expect(await settlement()).toEqual({ ...first, settled: expect.any(Date) })
})

describe('the fee of the provider', () => {
  test('a fee is booked once, on the account that paid it', async () => {
    await sandbox.control('fees', { bps: 200 })
    const payment = await paid(id('d'))
    await paid(id('e'), 'MY', 10)
    const failed = await paidOut('999999', 'FAILED')
    await Promise.all([read(), read(), read()])
    await read()
    const itemsOf = async (reference: string) =>
      (
        await fixture.admin`
          select account || ':' || transaction_id as item from books.provider_moves
          where reference = ${reference}`
      ).map(({ item }) => item as string)
    const booked = async (reference: string) => journalOf(fixture.admin, await itemsOf(reference))
    expect(await booked(id('d'))).toMatchObject([{ event: 'fee', lines: { fees: 3_330n, provider_id: -3_330n } }])
    expect(await booked(id('e'))).toMatchObject([{ lines: { fees: 22n, provider_my: -22n } }])
    expect(await booked(failed.reference_id)).toEqual([])
    expect((await rows(id('d')))[0]).toMatchObject({ productId: payment.payment_id, fee: '3330' })
    await sandbox.control('fees', { bps: 0 })
  })

  test('the fee of a returned payout is reversed by its own posting', async () => {
    await sandbox.control('fees', { bps: 200 })
    const payout = await paidOut('1234567890', 'SUCCEEDED')
    await read()
    await sandbox.control(`payouts/${payout.id}/reverse`)
    await read()
    const [{ item }] = (await fixture.admin`
      select account || ':' || transaction_id as item from books.provider_moves
      where reference = ${payout.reference_id}`) as unknown as [{ item: string }]
    expect(await journalOf(fixture.admin, [item])).toEqual([
      { event: 'fee', item, reverses: false, lines: { fees: 5_550n, provider_id: -5_550n } },
      { event: 'fee', item, reverses: true, lines: { fees: -5_550n, provider_id: 5_550n } },
    ])
    await sandbox.control('fees', { bps: 0 })
  })
})

describe('an operator accepts as capital', () => {
  const accept = (item: string, reason = 'ours') => acceptAsCapital(fixture.copy(), item, reason)
  const itemOf = async (type: string, reference: string) =>
    (
      await fixture.admin<{ id: string }[]>`
        select transaction_id as id from books.provider_moves
        where type = ${type} and reference like ${reference} order by changed_at desc`
    )[0]!.id
  const booked = (item: string) => journalOf(fixture.admin, [item])

  test('deposits at the provider and withdrawals are accepted once', async () => {
    await sandbox.control('balance', { amount: 9_000_000 })
    await read()
    const cameIn = await itemOf('unknown', 'own-%')
    await sandbox.control('balance', { amount: 8_999_000 })
    await read()
    const wentOut = await itemOf('unknown', 'own-%')
    await Promise.all([accept(cameIn), accept(cameIn), accept(wentOut)])
    await read()
    expect(await booked(cameIn)).toHaveLength(1)
    const event = 'accepted as capital: ours'
    expect(await booked(wentOut)).toEqual([
      { event, item: wentOut, reverses: false, lines: { provider_id: -1_000n, capital: 1_000n } },
    ])
  })

  const holdInSuspense = async (service: 'payments' | 'payouts', item: string, inMinor: number) => {
    const lines = [
      { account: 'provider_id', amount: inMinor },
      { account: 'suspense', amount: -inMinor },
    ]
    const posting = { posting: `${item}/held`, event: 'money of no payment', item, asset: 'IDR' }
    await fixture.admin`insert into ${fixture.admin(service)}.journal
      ${fixture.admin(lines.map((one, line) => ({ ...posting, ...one, line })))}`
  }

  const reverseStanding = (item: string) =>
    fixture.copy().database.transaction(async (tx) => {
      const [posting] = (await standingPostings(tx, item)).keys()
      await reverse(tx, journal, { posting: posting!, reason: 'it was a customer' })
    })

  test('an acceptance that is taken back leaves the money in suspense, and is no acceptance for the list', async () => {
    const payout = await paidOut('1234567890', 'SUCCEEDED')
    await read()
    const item = await itemOf('payout', payout.reference_id)
    await holdInSuspense('payouts', payout.id, -250_000)
    await accept(item)
    await reopenAccepted(fixture.copy(), item, 'it was a customer')
    await sandbox.control(`payouts/${payout.id}/reverse`)
    await read()
    expect(await booked(payout.id)).toMatchObject([
      { event: 'accepted as capital: ours', lines: { suspense: -250_000n, capital: 250_000n } },
      { event: 'reopened: it was a customer', reverses: true, lines: { suspense: 250_000n, capital: -250_000n } },
    ])
  })

  test('a payout sent by hand leaves suspense for capital, and comes back when the money does', async () => {
    const payout = await paidOut('1234567890', 'SUCCEEDED')
    await read()
    const item = await itemOf('payout', payout.reference_id)
    await holdInSuspense('payouts', payout.id, -250_000)
    await Promise.all([accept(item, 'paid back pay_x'), accept(item, 'paid back pay_x')])
    await read()
    const accepted = {
      event: 'accepted as capital: paid back pay_x',
      item: payout.id,
      reverses: false,
      lines: { suspense: -250_000n, capital: 250_000n },
    }
    expect(await booked(payout.id)).toEqual([accepted])
    await sandbox.control(`payouts/${payout.id}/reverse`)
    await Promise.all([read(), read()])
    const back = {
      event: 'as the list has it now',
      item: payout.id,
      reverses: true,
      lines: { suspense: 250_000n, capital: -250_000n },
    }
    expect(await booked(payout.id)).toEqual([accepted, back])
    expect(await booked(item)).toEqual([])
  })

  test('an acceptance that was reversed is booked again', async () => {
    const payout = await paidOut('1234567890', 'SUCCEEDED')
    await read()
    const item = await itemOf('payout', payout.reference_id)
    await holdInSuspense('payouts', payout.id, -250_000)
    const accepted = { suspense: -250_000n, capital: 250_000n }
    const linesOf = async () => (await booked(payout.id)).map(({ lines }) => lines)
    await accept(item)
    await reverseStanding(payout.id)
    await read()
    expect(await linesOf()).toEqual([accepted, { suspense: 250_000n, capital: -250_000n }])
    await Promise.all([accept(item), accept(item)])
    expect((await linesOf()).slice(2)).toEqual([accepted])
  })

  test('a second payout of a cash-out is accepted once it is in suspense, and the first one is not', async () => {
    const [first, second] = [await paidOut('1234567890', 'SUCCEEDED'), await paidOut('1234567890', 'SUCCEEDED')]
    await read()
    const items = [await itemOf('payout', first.reference_id), await itemOf('payout', second.reference_id)] as const
    const { admin } = fixture
    await insertCashout(admin, first.reference_id, { authorizer: `0x${'c'.repeat(40)}`, nonce: nonceOf('twice') })
    await admin`update payouts.payouts set provider_payout_id = ${first.id} where id = ${first.reference_id}`
    await admin`update books.provider_moves set reference = ${first.reference_id} where product_id = ${second.id}`
    for (const item of items) await expect(accept(item)).rejects.toThrow('belongs to a payment or cash-out')
    await holdInSuspense('payouts', second.id, -250_000)
    await accept(items[1], 'the payee keeps it')
    expect(await booked(second.id)).toMatchObject([{ lines: { suspense: -250_000n, capital: 250_000n } }])
    await expect(accept(items[0])).rejects.toThrow('belongs to a payment or cash-out')
  })

  test('of a payout above its cash-out, only the amount in suspense is accepted', async () => {
    const payout = await paidOut('1234567890', 'SUCCEEDED')
    await read()
    const item = await itemOf('payout', payout.reference_id)
    await insertCashout(fixture.admin, payout.reference_id, {
      authorizer: `0x${'d'.repeat(40)}`,
      nonce: nonceOf('too much'),
    })
    await fixture.admin`
      update payouts.payouts set provider_payout_id = ${payout.id} where id = ${payout.reference_id}`
    await holdInSuspense('payouts', payout.id, -8_750)
    await accept(item, 'the payee keeps it')
    await read()
    expect(await booked(payout.id)).toMatchObject([{ lines: { suspense: -8_750n, capital: 8_750n } }])
  })

  test('money paid in under a reference of the company leaves suspense for capital', async () => {
    const reference = `link-${crypto.randomUUID()}`
    await paid(reference)
    await read()
    const [row] = await rows(`${reference}%`)
    await holdInSuspense('payments', row!.productId, 150_000)
    await accept(await itemOf('payment', `${reference}%`), 'our payment link')
    expect(await booked(row!.productId)).toMatchObject([{ lines: { suspense: 150_000n, capital: -150_000n } }])
  })

  test('a payout that no service books is accepted after a while, and reversed when the money comes back', async () => {
    const payout = await paidOut('1234567890', 'SUCCEEDED')
    await read()
    const item = await itemOf('payout', payout.reference_id)
    // A posting of the payouts service that follows the acceptance would count the money twice.
    await expect(accept(item, 'rent')).rejects.toThrow('its service has not booked it yet, try again in 15 minutes')
    const later = fixture.copy({ clock: () => Date.now() + 16 * 60_000 })
    await acceptAsCapital(later, item, 'rent')
    await sandbox.control(`payouts/${payout.id}/reverse`)
    await Promise.all([read(), read()])
    const lines = { provider_id: -250_000n, capital: 250_000n }
    expect(await booked(item)).toEqual([
      { event: 'accepted as capital: rent', item, reverses: false, lines },
      {
        event: 'as the list has it now',
        item,
        reverses: true,
        lines: { provider_id: 250_000n, capital: -250_000n },
      },
    ])
  })

  test('only transactions that were read, are completed and belong to no service are accepted, with a reason', async () => {
    await expect(accept('txn_nowhere')).rejects.toThrow('has been read')
    await expect(accept("txn_'")).rejects.toThrow('neither a transfer')
    const failed = await paidOut('999999', 'FAILED')
    await paid(id('g'))
    await read()
    const ours = await itemOf('payment', id('g'))
    await expect(accept(ours, ' ')).rejects.toThrow('a reason is required')
    await insertPayment(fixture.admin, id('g'))
    await expect(accept(ours)).rejects.toThrow('belongs to a payment or cash-out')
    const item = await itemOf('payout', failed.reference_id)
    await expect(accept(item)).rejects.toThrow('moved no money that can be booked: its status is failed')
  })
})

describe('reading the provider list', () => {
  const readTo = async (source = 'provider:ID') =>
    (await fixture.admin`select read_to from books.checkpoints where source = ${source}`)[0]!.read_to as Date

  test('the list is read from the checkpoint minus a margin, so late entries are found', async () => {
    await read()
    await sandbox.control('faults', { api: { listDelayMs: 600_000 } })
    await paid(id('f'))
    await read()
    expect(await rows(id('f'))).toHaveLength(0)
    await sandbox.control('faults', {})
    await read()
    expect(await rows(id('f'))).toHaveLength(1)
    const hourMs = 3_600_000
    await read({ clock: () => Date.now() + hourMs })
    expect((await readTo()).getTime()).toBeGreaterThan(Date.now() + hourMs - 60_000)
  })

  test.each([
    ['ahead', 7_200_000],
    ['behind', -7_200_000],
  ])('a row of a provider whose clock is two hours %s for a while is found', async (_, ms) => {
    await read()
    // The books of a service begin a day before its first row.
    await fixture.admin`
      update books.checkpoints set read_to = now() - interval '1 day' where source = 'opening:ID'`
    await sandbox.control('faults', { api: { clockAheadMs: ms } })
    const reference = `clock-${ms}`
    const { json } = await sandbox.call(
      'ID',
      '/sessions',
      sessionBody({
        reference_id: reference,
        amount: 150_000,
        expires_at: new Date(Date.now() + ms + 900_000).toISOString(),
      }),
    )
    await sandbox.control(`sessions/${json.payment_session_id}/pay`, { channel_code: 'DANA' })
    await sandbox.control('faults', {})
    await read()
    expect(await rows(`${reference}%`)).toHaveLength(1)
  })

  test('a failed reading does not move the checkpoint', async () => {
    const before = await readTo()
    for (const api of [{ forbidList: 1 }, { rateLimitRate: 1 }, { errorRate: 1 }]) {
      await sandbox.control('faults', { api })
      await expect(read({ clock: () => Date.now() + 7_200_000 })).rejects.toThrow()
      await sandbox.control('faults', {})
    }
    expect(await readTo()).toEqual(before)
  })

  test('a long period is read day by day, so a failure keeps the days already read', async () => {
    await fixture.admin`truncate books.checkpoints`
    await fixture.admin`update payments.payments set created_at = now() - interval '5 days'`
    const seen: string[] = []
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: (request) => {
        const { pathname } = new URL(request.url)
        seen.push(pathname)
        if (seen.filter((path) => path === '/transactions').length === 4)
          return Response.json({ error_code: 'X' }, { status: 403 })
        return Response.json({ has_more: false, data: [], balance: 0 })
      },
    })
    const provider = { url: server.url.origin, keys, requestsPerMinute: 60_000 }
    const place = { ...fixture.place, provider }
    await expect(read({ place })).rejects.toThrow()
    const dayMs = 86_400_000
    const daysAgo = async () => Math.round((Date.now() - (await readTo()).getTime()) / dayMs)
    expect(await daysAgo()).toBe(3)
    await read({ place })
    expect(await daysAgo()).toBe(0)
    await server.stop(true)
  })

  test('no list is read without a provider', async () => {
    await fixture.admin`truncate books.checkpoints`
    await read({ place: { ...fixture.place, provider: undefined } })
    expect(await fixture.admin`select * from books.checkpoints`).toHaveLength(0)
  })
})

test.each([
  [id('x'), id('x')],
  [`${id('x')}_1f2e-1`, id('x')],
  [`ordered-${id('x')}`, id('x')],
  [`${id('x')}0`, `${id('x')}0`],
  [`x${id('x')}`, `x${id('x')}`],
  ['pay_short_1', 'pay_short_1'],
  [null, null],
])('the provider reference %p is our reference %p', (given, own) => {
  expect(ownReference(given)).toBe(own)
})

test.each([
  ['behind', -7_200_000],
  ['ahead of', 7_200_000],
])('the list counts as read at the time of the database if the machine is two hours %s it', async (_, ms) => {
  await fixture.admin`delete from books.checkpoints where source like 'provider:%'`
  setSystemTime(Date.now() + ms)
  try {
    const { databaseUrl, place } = fixture
    const log = openLog('operator', 'silent')
    await using books = await openBooks({ databaseUrl, place, log, onFatal: () => {} })
    await readProvider(books)
  } finally {
    setSystemTime()
  }
  const [read] = await fixture.admin<[{ offSeconds: number }]>`
    select abs(extract(epoch from now() - read_to))::float8 as "offSeconds"
    from books.checkpoints where source = 'provider:ID'`
  expect(read.offSeconds).toBeLessThan(600)
})

test('a movement after the clock of Postgres was ahead for a moment is read', async () => {
  await read()
  await fixture.admin`update books.checkpoints set read_to = now() + interval '1 day' where source like 'provider:%'`
  const reference = id('Z')
  await paid(reference)
  await waitUntil('the movement', async () => {
    await read()
    return (await rows(reference)).length > 0
  })
  const ahead = await fixture.admin`select source from books.checkpoints where read_to > now() + interval '1 minute'`
  expect(ahead).toHaveLength(0)
})

test('a balance that was read while the clock of Postgres was ahead is replaced by the next reading', async () => {
  const held = async () =>
    (
      await fixture.admin<{ amount: string; isAhead: boolean }[]>`
      select amount, read_at > now() + interval '1 minute' as "isAhead" from books.balances where place = 'provider_id'`
    )[0]
  await fixture.admin`
    update books.balances set amount = -7, read_at = now() + interval '2 hours' where place = 'provider_id'`
  await read()
  expect(await held()).toMatchObject({ isAhead: false, amount: expect.stringMatching(/^[0-9]+$/) })
})
