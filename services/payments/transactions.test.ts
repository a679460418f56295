import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { waitUntil } from '#infra/local/wait'
import { readDue } from '#shared/provider/listing'
import { openRig, type Rig } from './rig.test'

let rig: Rig
beforeAll(async () => {
  rig = await openRig()
}, 60_000)
afterAll(() => rig?.[Symbol.asyncDispose]())
beforeEach(async () => {
  Object.assign(rig.chain, { verified: true, drawn: '3000000', frozen: false })
  await rig.control('faults', { webhooks: { drop: 1 }, api: {} })
})

let count = 0
const anotherWallet = () => `0x${(++count).toString(16).padStart(40, 'e')}`
const opened = async () => {
  const asked = { wallet: anotherWallet(), amount: '50000', method: 'qr', quoteId: rig.quote() }
  return (await rig.topup(asked)).ok!.paymentId
}
const paid = async (channel_code = 'QRIS') => {
  const id = await opened()
  await rig.control(`sessions/${id}/pay`, { channel_code, force: true })
  return id
}
const stateOf = async (id: string) => (await rig.row(id))!.state
const settings = {
  ...{ listEveryMs: 1, listRecentMs: 60_000 },
  ...{ listWholeEveryMs: 86_400_000, listWholeMs: 86_400_000 },
}
const read = () => readDue(rig.listing, settings, 'ID')

describe('the list of transactions', () => {
  test('brings a payment nobody told of, once', async () => {
    const id = await paid()
    await rig.list()
    expect(await stateOf(id)).toBe('paid')
    await rig.list()
    const subjects = (await rig.orders(id)).map(({ subject }) => subject)
    expect(subjects).toEqual(['payments.paid', 'relay.credit'])
  })

  test('brings a refund before the payment itself was heard of: nothing is credited', async () => {
    const id = await paid('CARDS')
    await rig.control(`payments/${id}/refund`)
    await rig.list()
    await waitUntil('the refund', async () => ['refunded', 'paid'].includes(await stateOf(id)))
    await rig.list()
    // Whichever row comes first, what went back is not kept.
    const row = (await rig.row(id))!
    expect([row.state, row.refundedMinor]).toEqual([row.state, 50_000n])
    if (row.state === 'paid') {
      await rig.settle('credit', id)
      expect(await stateOf(id)).toBe('revoking')
    }
  })

  test('that shows a refund which cannot be fetched is believed, as the whole word', async () => {
    const id = await paid('CARDS')
    await rig.list()
    await rig.settle('credit', id)
    await rig.control('faults', { api: { hideRefunds: 1 } })
    await rig.control(`payments/${id}/refund`, { amount: 20_000 })
    await rig.list()
    expect(await rig.row(id)).toMatchObject({ state: 'revoking', refundedMinor: 20_000n })
    // Fetched by itself later, it is the same refund.
    await rig.control('faults', { api: {} })
    await rig.list()
    expect((await rig.row(id))!.refundedMinor).toBe(20_000n)
  })

  test.each([
    ['fails', { errorRate: 1 }],
    ['is forbidden to our key', { forbidList: 1 }],
  ])('that %s is no look: the next reading reaches back to the last good one', async (_, api) => {
    const id = await opened()
    await read()
    await rig.control('faults', { api })
    await rig.control(`sessions/${id}/pay`, { channel_code: 'QRIS' })
    for (let rounds = 0; rounds < 3; rounds++) {
      rig.time.aheadMs += 120_000
      await read()
    }
    expect(await stateOf(id)).toBe('awaiting_payment')
    await rig.control('faults', { api: {} })
    rig.time.aheadMs += 2_000
    await read()
    expect(await stateOf(id)).toBe('paid')
  })

  test('whose payment cannot be fetched is no look either', async () => {
    const id = await paid()
    await rig.control('faults', { api: { errorRate: 0.9 }, seed: 3 })
    await rig.list().catch(() => {})
    await rig.control('faults', { api: {} })
    await rig.list()
    expect(await stateOf(id)).toBe('paid')
  })

  test('names money that is not ours once, for a person', async () => {
    const before = (await rig.oddities()).length
    const answer = await fetch(`${rig.sandbox.url}/sessions`, {
      method: 'POST',
      headers: {
        Authorization: `Basic ${btoa('xnd_development_id:')}`,
        'Content-Type': 'application/json',
      },
      body: JSON.stringify({
        ...{ reference_id: 'another shop', session_type: 'PAY', mode: 'PAYMENT_LINK' },
        ...{ currency: 'IDR', country: 'ID', amount: 70_000 },
      }),
    })
    const { payment_session_id: session } = (await answer.json()) as { payment_session_id: string }
    await rig.control(`sessions/${session}/pay`, { channel_code: 'QRIS' })
    await rig.list()
    await rig.list()
    const oddities = (await rig.oddities()).slice(before)
    expect(oddities.map(({ kind }) => kind)).toEqual(['money_unmatched'])
  })

  test('calls a person when a dispute is won', async () => {
    const id = await paid()
    await rig.list()
    await rig.settle('credit', id)
    const made = (await rig.control(`payments/${id}/chargeback`)) as unknown as { id: string }
    await rig.list()
    expect(await stateOf(id)).toBe('review')
    await rig.control(`chargebacks/${made.id}`, { status: 'REVERSED' })
    await rig.list()
    expect(await stateOf(id)).toBe('review')
  })
})
