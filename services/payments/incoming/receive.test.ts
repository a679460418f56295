import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import type { Tx } from '#platform/db/open'
import { booksOf } from '../ledger/test-support'
import { lockPayment } from '../payment.store'
import type { Charge } from '../provider'
import { newWallet, openFixture, waitUntil, wallet } from '../test-support'
import { receiveCheckout } from './receive'

const fixture = await openFixture()
const { booked } = booksOf(fixture)
afterAll(() => fixture[Symbol.asyncDispose]())
beforeEach(async () => {
  Object.assign(fixture.chain, { verified: true, drawn: '3000000', frozen: false })
  fixture.chain.hold = { state: 'released', until: null }
  await fixture.control('faults', {})
})

const pairs = { IDR: ['USD/IDR', '16250', '50000'], MYR: ['USD/MYR', '421', '2000'] } as const
async function open(currency: 'IDR' | 'MYR' = 'IDR'): Promise<string> {
  const [pair, rate, amount] = pairs[currency]
  const quoteId = fixture.quote(pair, rate)
  return (await fixture.topup({ wallet, amount, method: 'qr', quoteId })).ok!.paymentId
}
const settlement = async (of: string = wallet) =>
  (await fixture.settlement({ wallet: of, quoteId: fixture.quote() })).ok!.paymentId
const pay = (id: string, channel_code: string, more: object = {}) =>
  fixture.control(`sessions/${id}/pay`, { channel_code, force: true, ...more })
const webhooks = (fault: object) => fixture.control('faults', { webhooks: fault })

describe('a top-up whose payment and refund no webhook reported', () => {
  test.each([
    ['all', {}, { state: 'refunded', reason: 'refunded_before_credit' }, []],
    ['part', { amount: 20_000 }, { state: 'paid', reason: 'refunded_in_part' }, ['1846153']],
  ])('is credited without the refund of %s of it', async (_, amount, wanted, credits) => {
    const id = await open()
    await webhooks({ drop: 1 })
    await pay(id, 'QRIS')
    const refund = await fixture.control(`payments/${id}/refund`, amount)
    await fixture.control(`refunds/${refund.id}/succeed`).catch(() => {})
    await fixture.recheck(120_000)
    await fixture.becomes(id, wanted)
    const orders = await fixture.orders(id)
    const ordered = orders.filter(({ subject }) => subject === 'relay.credit')
    expect(ordered.map(({ payload }) => (payload as { ausd: string }).ausd)).toEqual(credits)
  })
})

describe('a paid top-up', () => {
  test.each([
    ['QRIS', 'IDR', false],
    ['BCA_VIRTUAL_ACCOUNT', 'IDR', false],
    ['MAYB2U_FPX', 'MYR', false],
    ['DUITNOW_PAY', 'MYR', false],
    ['CARDS', 'IDR', true],
    ['CARDS', 'MYR', true],
    ['DANA', 'IDR', true],
    ['TOUCHNGO', 'MYR', true],
    ['ALFAMART', 'IDR', true],
    // guard: reversible payments are held, and so are those of unknown channels
    ['KREDIVO', 'IDR', true],
  ] as const)('by %s in %s is ordered once, held: %p', async (channel, currency, held) => {
    const id = await open(currency)
    await pay(id, channel)
    const row = await fixture.becomes(id, { state: 'paid' })
    expect(row).toMatchObject({ channel, held })
    const ausd = currency === 'IDR' ? '3076923' : '4750593'
    const [, order, ...more] = await fixture.orders(id)
    expect(order).toMatchObject({
      subject: 'relay.credit',
      payload: { refId: id, wallet, ausd, held },
    })
    expect(more).toEqual([])
    await fixture.settle('credit', id)
    const txHash = `0x${'ab'.repeat(32)}`
    expect(await fixture.row(id)).toMatchObject({ state: held ? 'held' : 'credited', txHash })
  })

  test.each([
    ['five times in random order', { times: 5, reorder: true }],
    ['five times under new ids', { times: 5, newIds: true, reorder: true }],
    ['with the capture only', { only: ['payment.capture'] }],
    ['with the session only', { only: ['payment_session.completed'] }],
  ])('with webhooks %s is ordered once', async (_, fault) => {
    const id = await open()
    await webhooks(fault)
    await pay(id, 'QRIS')
    await fixture.becomes(id, { state: 'paid' })
    await waitUntil('every delivery being answered', async () => {
      const sent = (await fixture.control('book')).webhooks as unknown as { state: string }[]
      return sent.every(({ state }) => state !== 'pending')
    })
    expect(await fixture.subjects(id)).toEqual(['payments.paid', 'relay.credit'])
  })

  test('without a webhook is found by a recheck', async () => {
    const id = await open()
    await webhooks({ drop: 1 })
    await pay(id, 'QRIS')
    await fixture.recheck()
    await fixture.becomes(id, { state: 'paid' })
    expect(await fixture.subjects(id)).toEqual(['payments.paid', 'relay.credit'])
  })

  test('after its checkout closed is still credited, with or without a webhook', async () => {
    for (const drop of [0, 1]) {
      const id = await open()
      await fixture.control(`sessions/${id}/choose`, { channel_code: 'BCA_VIRTUAL_ACCOUNT' })
      await fixture.control(`sessions/${id}/expire`)
      await fixture.becomes(id, { state: 'expired' })
      await webhooks({ drop })
      await pay(id, 'BCA_VIRTUAL_ACCOUNT')
      if (drop) await fixture.recheck(5_000)
      await fixture.becomes(id, { state: 'paid' })
      await webhooks({ drop: 0 })
    }
  })

  test('with one sen too little goes to review and is not credited', async () => {
    const id = await open('MYR')
    await fixture.control('faults', { api: { wrongAmount: 1 } })
    await pay(id, 'DUITNOW_PAY')
    expect(await fixture.becomes(id, { state: 'review' })).toMatchObject({
      reason: 'amount_differs',
      paidMinor: 1999n,
    })
    expect(await fixture.subjects(id)).toEqual(['payments.review'])
  })

  test('through a checkout with a lost response is credited by our reference on it', async () => {
    const quoteId = fixture.quote()
    await fixture.control('faults', { api: { errorAfterAccept: 1 } })
    await fixture.topup({ wallet, amount: '50000', method: 'qr', quoteId })
    await fixture.control('faults', {})
    const row = (await fixture.rows()).find((candidate) => candidate.quoteId === quoteId)!
    await pay(row.id, 'QRIS')
    await fixture.becomes(row.id, { state: 'paid' })
  })

  // guard: a second payment is counted once, however often it is reported
  test('through two checkouts is credited once, and the second payment goes to review', async () => {
    const quoteId = fixture.quote()
    await fixture.control('faults', { api: { errorAfterAccept: 1 } })
    await fixture.topup({ wallet, amount: '50000', method: 'qr', quoteId })
    await fixture.control('faults', {})
    await fixture.topup({ wallet, amount: '50000', method: 'qr', quoteId })
    const { id } = (await fixture.rows()).find((candidate) => candidate.quoteId === quoteId)!
    const book = (await fixture.control('book')) as unknown as {
      sessions: { reference_id: string; payment_session_id: string }[]
    }
    const both = book.sessions.filter((session) => session.reference_id === id)
    expect(both.length).toBe(2)
    const paid = []
    for (const session of both) paid.push((await pay(session.payment_session_id, 'QRIS')).payment_id)
    await waitUntil('both being counted', async () => (await fixture.row(id))?.overpaidMinor === 50_000n)
    for (const payment_id of paid) {
      const again = JSON.stringify({ event: 'payment.capture', data: { payment_id } })
      expect(await fixture.deliver('ID', again, crypto.randomUUID())).toBe('done')
    }
    expect((await fixture.row(id))!.overpaidMinor).toBe(50_000n)
    await fixture.settle('credit', id)
    expect(await fixture.row(id)).toMatchObject({ state: 'review', reason: 'paid_twice' })
    expect(fixture.alarmsOf(id)).toContain('payment paid twice')
    expect(await fixture.subjects(id)).toEqual(['payments.paid', 'relay.credit', 'payments.review'])
    expect(await fixture.anomalies()).toContainEqual(
      expect.objectContaining({ kind: 'paid_twice', paymentId: id, amountMinor: 50_000n }),
    )
  })
})

describe('a payer who leaves the checkout unpaid', () => {
  test.each([
    ['a declined card', 'fail'],
    ['a card that is only authorized', 'authorize'],
  ])('%s keeps the checkout open', async (_, what) => {
    const id = await open()
    await fixture.control(`sessions/${id}/${what}`, { channel_code: 'CARDS' })
    await fixture.recheck()
    expect(await fixture.row(id)).toMatchObject({ state: 'awaiting_payment' })
  })

  test('lets the checkout expire, with or without a webhook', async () => {
    const told = await open()
    await fixture.control(`sessions/${told}/expire`)
    await fixture.becomes(told, { state: 'expired' })
    const untold = await open()
    await webhooks({ drop: 1 })
    await fixture.control(`sessions/${untold}/expire`)
    await fixture.recheck()
    await fixture.becomes(untold, { state: 'expired' })
  })
})

describe('a paid settlement', () => {
  test('is never held, whatever the channel, and ends repaid', async () => {
    const id = await settlement()
    await pay(id, 'CARDS')
    await fixture.becomes(id, { state: 'paid' })
    expect(await fixture.subjects(id)).toEqual(['payments.paid', 'relay.repay'])
    await fixture.settle('repay', id)
    expect(await fixture.row(id)).toMatchObject({ state: 'repaid' })
  })

  test('goes to review if the chain finally refused it', async () => {
    const id = await settlement()
    await pay(id, 'QRIS')
    await fixture.becomes(id, { state: 'paid' })
    await fixture.settle('repay', id, true)
    expect(await fixture.row(id)).toMatchObject({ state: 'review', reason: 'repay_failed' })
  })
})

describe('money after the end of its checkout', () => {
  // Rounds of rechecks put our clock ahead of the provider's clock, which decides what is late.
  beforeEach(() => {
    fixture.time.aheadMs = 0
  })
  const end = async () => {
    const id = await open()
    await fixture.control(`sessions/${id}/expire`)
    await fixture.becomes(id, { state: 'expired' })
    return id
  }
  const worth = { ausdMicro: 2_958_579n, promisedMicro: 3_076_923n, lateRateMinorPerUsd: 16_900n }

  // guard: a late payment is credited at no better than the current rate
  test('is priced once, at any rate and for any number of reports', async () => {
    const id = await end()
    fixture.present.set('USD/IDR', '16900')
    await webhooks({ duplicate: 1 })
    await pay(id, 'QRIS')
    await fixture.becomes(id, { state: 'paid' })
    fixture.present.set('USD/IDR', '18000')
    await fixture.list()
    await fixture.recheck()
    fixture.present.set('USD/IDR', '16250')
    expect(await fixture.row(id)).toMatchObject({ ...worth, onchainMicro: 2_958_579n })
    const credits = (await fixture.orders(id)).filter(({ subject }) => subject === 'relay.credit')
    for (const { payload } of credits) expect(payload).toMatchObject({ ausd: '2958579' })
  })

  test.each([
    [
      'a settlement is priced at its quote, before the contract would count it as late',
      () => settlement(newWallet()),
      'paid',
    ],
    ['a top-up waits on', open, 'expired'],
  ] as const)('after 21 hours without a rate %s', async (_, begin, state) => {
    const id = await begin()
    await fixture.control(`sessions/${id}/expire`)
    await fixture.becomes(id, { state: 'expired' })
    fixture.present.delete('USD/IDR')
    await pay(id, 'QRIS')
    await fixture.becomes(id, { reason: 'awaiting_rate' })
    expect(fixture.alarmsOf(id)).toContain('late payment has no exchange rate yet')
    await fixture.recheck()
    expect(await fixture.row(id)).toMatchObject({ state: 'expired', reason: 'awaiting_rate' })
    fixture.time.aheadMs = 21 * 3_600_000
    await fixture.recheck()
    const promised = (await fixture.row(id))!
    expect(promised).toMatchObject({ state, lateRateMinorPerUsd: null })
    fixture.present.set('USD/IDR', '16250')
  })

  test('leaves the response to a repeated request as promised', async () => {
    const quoteId = fixture.quote()
    const asked = { wallet, amount: '50000', method: 'qr', quoteId }
    const first = await fixture.topup(asked)
    const id = first.ok!.paymentId
    await fixture.control(`sessions/${id}/expire`)
    await fixture.becomes(id, { state: 'expired' })
    fixture.present.set('USD/IDR', '16900')
    await pay(id, 'QRIS')
    await fixture.becomes(id, { state: 'paid', ...worth })
    fixture.present.set('USD/IDR', '16250')
    expect(await fixture.topup(asked)).toEqual(first)
  })

  test('that is refunded while it waits for a rate is never credited', async () => {
    const id = await end()
    fixture.present.delete('USD/IDR')
    await pay(id, 'CARDS')
    const waiting = await fixture.becomes(id, { reason: 'awaiting_rate' })
    expect(waiting).toMatchObject({ state: 'expired', nextCheckAt: expect.any(Date) })
    await fixture.recheck()
    expect(await fixture.row(id)).toMatchObject({ state: 'expired', reason: 'awaiting_rate' })
    await fixture.control(`payments/${id}/refund`)
    await fixture.becomes(id, { state: 'refunded', reason: 'refunded_before_credit' })
    fixture.present.set('USD/IDR', '16250')
    expect(await fixture.subjects(id)).toEqual([])
  })

  test.each([
    ['less than it owes', -7n],
    ['more than it owes', 7n],
  ])(
    'that pays %s is refunded as a whole while it waits, and its amount is known if that comes back',
    async (_, moreMinor) => {
      const id = await settlement(newWallet())
      await fixture.control(`sessions/${id}/expire`)
      const { fiatMinor } = (await fixture.becomes(id, { state: 'expired' }))!
      fixture.present.delete('USD/IDR')
      const paidMinor = fiatMinor + moreMinor
      const paid = { channel_code: 'CARDS', force: true, amount: Number(paidMinor) }
      await fixture.control(`sessions/${id}/pay`, paid)
      await fixture.becomes(id, { reason: 'awaiting_rate', paidMinor })
      const refund = await fixture.control(`payments/${id}/refund`)
      await fixture.becomes(id, { state: 'refunded', refundedMinor: paidMinor })
      await fixture.control(`refunds/${refund.id}/fail`)
      await fixture.becomes(id, { state: 'review', reason: 'amount_differs', refundedMinor: 0n, paidMinor })
      expect(await booked(id)).toEqual({ 'provider_id IDR': paidMinor, 'suspense IDR': -paidMinor })
      fixture.present.set('USD/IDR', '16250')
      expect((await fixture.resolve(id, 'refund')).ok).toHaveProperty('done')
    },
  )

  test('is found by the list, waits without a rate, and is credited once there is one', async () => {
    const id = await end()
    fixture.present.delete('USD/IDR')
    await webhooks({ drop: 1 })
    await pay(id, 'QRIS')
    await fixture.list()
    await fixture.becomes(id, { reason: 'awaiting_rate' })
    fixture.present.set('USD/IDR', '16900')
    await fixture.recheck()
    fixture.present.set('USD/IDR', '16250')
    expect(await fixture.row(id)).toMatchObject({ state: 'paid', reason: null, ...worth })
  })
})

describe('two transactions receive at once without a deadlock', () => {
  test.each(['a checkout', 'the charge of a checkout'])('%s of unknown status', async (what) => {
    const id = await open()
    const { account, checkoutId } = (await fixture.row(id))!
    const { context, database } = fixture
    const isCheckout = what === 'a checkout'
    const rest = { reference: id, checkoutUrl: null, expiresAt: null, paymentRequestId: null, paymentId: null }
    const checkout = { ...rest, checkoutId: checkoutId!, status: isCheckout ? 'unknown' : 'open' } as const
    const charge = { account, paymentId: `py-${id}`, currency: 'IDR', paidMinor: 50_000n } as Charge
    const fetched = { status: 'unknown', charge, presentMinorPerUsd: null } as const
    const receive = (tx: Tx) => receiveCheckout(tx, context, account, { checkout, ...(!isCheckout && { fetched }) })
    const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    const isWaited = async () => (await database.read((db) => db.execute(waiting))).length > 0
    const { other } = await database.transaction(async (tx) => {
      // As a refund of the charge does.
      await lockPayment(tx, id)
      const other = database.transaction(receive).catch((error) => error)
      await waitUntil('the other to wait', isWaited)
      await receive(tx)
      return { other }
    })
    expect(await other).toBe(false)
  })
})
