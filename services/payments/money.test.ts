import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { waitUntil } from '#infra/local/wait'
import type { PaymentState } from './payment'
import { openRig, type Rig, wallet } from './rig.test'

let rig: Rig
beforeAll(async () => {
  rig = await openRig()
}, 60_000)
afterAll(() => rig?.[Symbol.asyncDispose]())
beforeEach(async () => {
  Object.assign(rig.chain, { verified: true, drawn: '3000000', frozen: false })
  rig.chain.hold = { state: 'released', until: null }
  await rig.control('faults', {})
})

const pairs = { IDR: ['USD/IDR', '16250', '50000'], MYR: ['USD/MYR', '421', '2000'] } as const
async function open(currency: 'IDR' | 'MYR' = 'IDR'): Promise<string> {
  const [pair, rate, amount] = pairs[currency]
  const quoteId = rig.quote(pair, rate)
  return (await rig.topup({ wallet, amount, method: 'qr', quoteId })).ok!.paymentId
}
const settlement = async () =>
  (await rig.settlement({ wallet, quoteId: rig.quote() })).ok!.paymentId
const pay = (id: string, channel_code: string, more: object = {}) =>
  rig.control(`sessions/${id}/pay`, { channel_code, force: true, ...more })
const becomes = (id: string, state: PaymentState) =>
  waitUntil(`${id} being ${state}`, async () => {
    const row = await rig.row(id)
    return row?.state === state && row
  })
const subjects = async (id: string) => (await rig.orders(id)).map(({ subject }) => subject)
const webhooks = (fault: object) => rig.control('faults', { webhooks: fault })

describe('a top-up that is paid', () => {
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
    ['KREDIVO', 'IDR', true],
  ] as const)('by %s in %s is ordered once, held: %p', async (channel, currency, held) => {
    const id = await open(currency)
    await pay(id, channel)
    const row = await becomes(id, 'paid')
    expect(row).toMatchObject({ channel, held })
    const ausd = currency === 'IDR' ? '3076923' : '4750593'
    const [, order, ...more] = await rig.orders(id)
    expect(order).toMatchObject({
      subject: 'relay.credit',
      payload: { refId: id, wallet, ausd, held },
    })
    expect(more).toEqual([])
    await rig.settle('credit', id)
    const txHash = `0x${'ab'.repeat(32)}`
    expect(await rig.row(id)).toMatchObject({ state: held ? 'held' : 'credited', txHash })
  })

  test.each([
    ['five times and in any order', { times: 5, reorder: true }],
    ['five times as if each were new', { times: 5, newIds: true, reorder: true }],
    ['by the capture alone', { only: ['payment.capture'] }],
    ['by the session alone', { only: ['payment_session.completed'] }],
  ])('and told %s is ordered once', async (_, fault) => {
    const id = await open()
    await webhooks(fault)
    await pay(id, 'QRIS')
    await becomes(id, 'paid')
    await waitUntil('every delivery being answered', async () => {
      const sent = (await rig.control('book')).webhooks as unknown as { state: string }[]
      return sent.every(({ state }) => state !== 'pending')
    })
    expect(await subjects(id)).toEqual(['payments.paid', 'relay.credit'])
  })

  test('and never told is found by the sweeper', async () => {
    const id = await open()
    await webhooks({ drop: 1 })
    await pay(id, 'QRIS')
    await rig.sweep()
    await becomes(id, 'paid')
    expect(await subjects(id)).toEqual(['payments.paid', 'relay.credit'])
  })

  test('after its checkout closed is still credited, told or not', async () => {
    for (const drop of [0, 1]) {
      const id = await open()
      await rig.control(`sessions/${id}/choose`, { channel_code: 'BCA_VIRTUAL_ACCOUNT' })
      await rig.control(`sessions/${id}/expire`)
      await becomes(id, 'expired')
      await webhooks({ drop })
      await pay(id, 'BCA_VIRTUAL_ACCOUNT')
      if (drop) await rig.sweep(5_000)
      await becomes(id, 'paid')
      await webhooks({ drop: 0 })
    }
  })

  test('with one sen too little waits for a person and is not credited', async () => {
    const id = await open('MYR')
    await rig.control('faults', { api: { wrongAmount: 1 } })
    await pay(id, 'DUITNOW_PAY')
    expect(await becomes(id, 'review')).toMatchObject({
      reason: 'amount_differs',
      paidMinor: 1999n,
    })
    expect(await subjects(id)).toEqual(['payments.review'])
  })

  test('through a checkout we never heard of is credited by our reference on it', async () => {
    const quoteId = rig.quote()
    await rig.control('faults', { api: { errorAfterAccept: 1 } })
    await rig.topup({ wallet, amount: '50000', method: 'qr', quoteId })
    await rig.control('faults', {})
    const row = (await rig.rows()).find((candidate) => candidate.quoteId === quoteId)!
    await pay(row.id, 'QRIS')
    await becomes(row.id, 'paid')
  })

  test('through two checkouts is credited once, and the second waits for a person', async () => {
    const quoteId = rig.quote()
    await rig.control('faults', { api: { errorAfterAccept: 1 } })
    await rig.topup({ wallet, amount: '50000', method: 'qr', quoteId })
    await rig.control('faults', {})
    await rig.topup({ wallet, amount: '50000', method: 'qr', quoteId })
    const { id } = (await rig.rows()).find((candidate) => candidate.quoteId === quoteId)!
    const book = (await rig.control('book')) as unknown as {
      sessions: { reference_id: string; payment_session_id: string }[]
    }
    const both = book.sessions.filter((session) => session.reference_id === id)
    expect(both.length).toBe(2)
    for (const session of both) await pay(session.payment_session_id, 'QRIS')
    await waitUntil(
      'both being counted',
      async () => (await rig.row(id))?.overpaidMinor === 50_000n,
    )
    await rig.settle('credit', id)
    expect(await rig.row(id)).toMatchObject({ state: 'review', reason: 'paid_twice' })
    expect(await subjects(id)).toEqual(['payments.paid', 'relay.credit', 'payments.review'])
    expect(await rig.oddities()).toContainEqual(
      expect.objectContaining({ kind: 'paid_twice', paymentId: id, amountMinor: 50_000n }),
    )
  })
})

describe('a payer who does not pay', () => {
  test.each([
    ['a declined card', 'fail'],
    ['a card that is only authorized', 'authorize'],
  ])('%s leaves the checkout open', async (_, what) => {
    const id = await open()
    await rig.control(`sessions/${id}/${what}`, { channel_code: 'CARDS' })
    await rig.sweep()
    expect(await rig.row(id)).toMatchObject({ state: 'awaiting_payment' })
  })

  test('lets the checkout expire, told or not', async () => {
    const told = await open()
    await rig.control(`sessions/${told}/expire`)
    await becomes(told, 'expired')
    const untold = await open()
    await webhooks({ drop: 1 })
    await rig.control(`sessions/${untold}/expire`)
    await rig.sweep()
    await becomes(untold, 'expired')
  })
})

describe('a settlement', () => {
  test('is never held, whatever it was paid with, and ends repaid', async () => {
    const id = await settlement()
    await pay(id, 'CARDS')
    await becomes(id, 'paid')
    expect(await subjects(id)).toEqual(['payments.paid', 'relay.repay'])
    await rig.settle('repay', id)
    expect(await rig.row(id)).toMatchObject({ state: 'repaid' })
  })

  test('the chain finally refused waits for a person', async () => {
    const id = await settlement()
    await pay(id, 'QRIS')
    await becomes(id, 'paid')
    await rig.settle('repay', id, true)
    expect(await rig.row(id)).toMatchObject({ state: 'review', reason: 'repay_failed' })
  })
})

describe('an order nobody answers', () => {
  test('is repeated under an id of its own, with the same content', async () => {
    const id = await open()
    await pay(id, 'QRIS')
    await becomes(id, 'paid')
    await rig.sweep()
    const orders = (await rig.orders(id)).filter(({ subject }) => subject === 'relay.credit')
    expect(orders.length).toBe(2)
    expect(orders[1]!.payload).toEqual(orders[0]!.payload)
  })
})
