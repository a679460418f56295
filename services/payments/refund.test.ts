import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { waitUntil } from '#infra/local/wait'
import { openRig, type Rig, wallet } from './rig.test'

let rig: Rig
beforeAll(async () => {
  rig = await openRig()
}, 60_000)
afterAll(() => rig?.[Symbol.asyncDispose]())

const webhooks = (fault: object) => rig.control('faults', { webhooks: fault })
const refund = (id: string, body: object = {}) => rig.control(`payments/${id}/refund`, body)
const subjects = async (id: string) => (await rig.orders(id)).map(({ subject }) => subject)
const is = (id: string, want: object) =>
  waitUntil(`${id} as wanted`, async () => {
    const row = await rig.row(id)
    return row && Object.entries(want).every(([key, value]) => row[key as 'id'] === value)
  })

/** Each payment has a wallet of its own: one that is frozen must not trouble the next test. */
let wallets = 0
const anotherWallet = () => `0x${(++wallets).toString(16).padStart(40, 'a')}`

async function paid(channel_code: string, wallet = anotherWallet()): Promise<string> {
  const quoteId = rig.quote()
  const { ok } = await rig.topup({ wallet, amount: '50000', method: 'qr', quoteId })
  const id = ok!.paymentId
  await rig.control(`sessions/${id}/pay`, { channel_code, force: true })
  return id
}
async function onChain(channel_code: string): Promise<string> {
  const id = await paid(channel_code)
  await is(id, { state: 'paid' })
  await rig.settle('credit', id)
  return id
}

describe('a refund', () => {
  test('during the hold revokes the top-up, once', async () => {
    const id = await onChain('CARDS')
    await webhooks({ times: 3, newIds: true })
    await refund(id)
    await is(id, { state: 'revoking', refundedMinor: 50_000n })
    await rig.settle('revoke', id)
    await is(id, { state: 'revoked', reason: 'refunded_during_hold' })
    expect((await subjects(id)).filter((subject) => subject === 'relay.revoke').length).toBe(1)
    await webhooks({ times: 1, newIds: false })
  })

  test('of a part during the hold takes all of it back and credits the rest under its own ref', async () => {
    const id = await onChain('CARDS')
    await refund(id, { amount: 20_000 })
    await is(id, { state: 'revoking' })
    await rig.settle('revoke', id)
    await is(id, { state: 'paid', reason: 'refunded_in_part', part: 1 })
    const orders = (await rig.orders(id)).filter(({ subject }) => subject === 'relay.credit')
    expect(orders.map(({ payload }) => payload)).toMatchObject([
      { refId: id, ausd: '3076923', held: true },
      { refId: `${id}.1`, ausd: '1846153', held: true },
    ])
    // Told again about the part that was taken back: that says nothing of the rest.
    await rig.settle('credit', id)
    await is(id, { state: 'paid', creditedAt: null })
    await rig.settle('credit', `${id}.1`)
    await is(id, { state: 'held', liveMicro: 1_846_153n })
  })

  test('that comes too late to revoke waits for a person', async () => {
    const id = await onChain('CARDS')
    await refund(id)
    await is(id, { state: 'revoking' })
    await rig.settle('revoke', id, true)
    await is(id, { state: 'review', reason: 'revoke_failed' })
  })

  test('after the credit waits for a person', async () => {
    const id = await onChain('QRIS')
    await refund(id)
    await is(id, { state: 'review', reason: 'refunded_after_credit', refundedMinor: 50_000n })
  })

  test.each([
    ['CARDS', 'revoking'],
    ['QRIS', 'review'],
  ] as const)(
    'while the credit by %s is under way is seen to when that ends',
    async (channel, end) => {
      const id = await paid(channel)
      await is(id, { state: 'paid' })
      await refund(id)
      await is(id, { state: 'paid', refundedMinor: 50_000n })
      await rig.settle('credit', id)
      await is(id, { state: end })
    },
  )

  test('told before the payment itself: nothing is credited', async () => {
    await webhooks({ only: ['refund.succeeded'] })
    const id = await paid('CARDS')
    await refund(id)
    await is(id, { state: 'refunded', reason: 'refunded_before_credit' })
    expect(await subjects(id)).toEqual([])
    await webhooks({ only: [] })
  })

  test('during the hold that nobody told is found by the sweeper', async () => {
    const id = await onChain('CARDS')
    await webhooks({ drop: 1 })
    await refund(id)
    await webhooks({ drop: 0 })
    await rig.sweep()
    expect(await rig.row(id)).toMatchObject({ state: 'revoking', refundedMinor: 50_000n })
  })

  test('that failed changes nothing', async () => {
    const id = await onChain('CARDS')
    await refund(id, { failure_code: 'REFUND_FAILED' })
    const [row] = [await rig.row(id)]
    expect(row).toMatchObject({ state: 'held', refundedMinor: 0n })
  })
})

describe('a delivery that is not what it seems', () => {
  const deliver = (event: string, data: object, deliveryId = crypto.randomUUID()) =>
    rig.deliver('ID', JSON.stringify({ event, data }), deliveryId)

  test('security: a session that names the payment of another is believed in nothing', async () => {
    const quotes = [rig.quote(), rig.quote()]
    const ids: string[] = []
    for (const quoteId of quotes) {
      const answer = await rig.topup({ wallet, amount: '50000', method: 'qr', quoteId })
      ids.push(answer.ok!.paymentId)
    }
    const [mine, other] = ids as [string, string]
    await webhooks({ drop: 1 })
    const payment = await rig.control(`sessions/${other}/pay`, { channel_code: 'QRIS' })
    await webhooks({ drop: 0 })
    const { sessionId } = (await rig.row(mine))!
    const data = {
      payment_session_id: sessionId,
      payment_id: payment.payment_id,
      status: 'COMPLETED',
    }
    expect(await deliver('payment_session.completed', data)).toBe('done')
    expect(await rig.row(mine)).toMatchObject({ state: 'awaiting_payment' })
    expect(await deliver('payment.capture', { ...data, reference_id: mine })).toBe('done')
    expect(await rig.row(mine)).toMatchObject({ state: 'awaiting_payment' })
    expect(await rig.row(other)).toMatchObject({ state: 'paid' })
  })

  test.each([
    ['of an event nobody knows', 'payment_sesion.compleeted', {}, 'event_unknown'],
    ['of a payment nobody knows', 'payment.capture', { payment_id: 'py-0' }, 'object_unknown'],
    ['of the dashboard', 'payment_session.completed', { id: 'ps-2020' }, 'object_unknown'],
    ['with a path for an id', 'payment.capture', { payment_id: '../v2/payouts' }, 'event_unknown'],
    ['of a refund nobody knows', 'refund.succeeded', { id: 'rfd-0' }, 'object_unknown'],
  ] as const)('%s is kept for a person', async (_, event, data, kind) => {
    const before = (await rig.oddities()).length
    expect(await deliver(event, data)).toBe('done')
    const after = await rig.oddities()
    expect(after.length).toBe(before + 1)
    expect(after.map((oddity) => oddity.kind)).toContain(kind)
  })

  test('about a payout is left to its owner', async () => {
    const before = (await rig.oddities()).length
    expect(await deliver('payout.succeeded', { id: 'disb-1' })).toBe('done')
    expect((await rig.oddities()).length).toBe(before)
  })

  test('about a refund of ours that cannot be found is tried again', async () => {
    const id = await onChain('CARDS')
    const { paymentRequestId } = (await rig.row(id))!
    const data = { id: 'rfd-1', payment_request_id: paymentRequestId }
    expect(await deliver('refund.succeeded', data)).toMatchObject({ retryInMs: expect.anything() })
  })
})
