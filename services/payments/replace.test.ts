import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { waitUntil } from '#infra/local/wait'
import { openRig, type Rig } from './rig.test'

let rig: Rig
beforeAll(async () => {
  rig = await openRig()
}, 60_000)
afterAll(() => rig?.[Symbol.asyncDispose]())
beforeEach(async () => {
  Object.assign(rig.chain, { verified: true, drawn: '3000000', frozen: false })
  await rig.control('faults', {})
})

let count = 0
const anotherWallet = () => `0x${(++count).toString(16).padStart(40, 'd')}`
const settle = (wallet: string, quoteId = rig.quote()) => rig.settlement({ wallet, quoteId })
const becomes = (id: string, want: object) =>
  waitUntil(`${id} being as wanted`, async () => {
    const row = await rig.row(id)
    return row && Object.entries(want).every(([key, value]) => row[key as 'id'] === value) && row
  })
const sessionOf = async (id: string) => {
  const { sessions } = (await rig.control('book')) as unknown as {
    sessions: { reference_id: string; status: string }[]
  }
  return sessions.find((session) => session.reference_id === id)
}

describe('opening a second checkout for a debt', () => {
  test('ends the first at the provider, and the first call still gets its first answer', async () => {
    const wallet = anotherWallet()
    const quoteId = rig.quote()
    const first = await settle(wallet, quoteId)
    const second = await settle(wallet)
    expect(second.ok!.paymentId).not.toBe(first.ok!.paymentId)
    expect(await sessionOf(first.ok!.paymentId)).toMatchObject({ status: 'CANCELED' })
    expect(await settle(wallet, quoteId)).toEqual(first)
    const { items, inFlight } = (await rig.activity({ wallet, limit: 10 })).ok!
    expect(items.map(({ status }) => status)).toEqual(['awaiting_payment', 'replaced'])
    expect(inFlight.map(({ id }) => id)).toEqual([second.ok!.paymentId])
  })

  test('goes on when the first has expired at the provider and nobody told', async () => {
    const wallet = anotherWallet()
    const first = (await settle(wallet)).ok!.paymentId
    await rig.control('faults', { webhooks: { drop: 1 } })
    await rig.control(`sessions/${first}/expire`)
    expect(await settle(wallet)).toHaveProperty('ok')
    await becomes(first, { state: 'replaced' })
  })

  test('is refused when the first is paid, told or not; its quote stays unused', async () => {
    for (const drop of [0, 1]) {
      const wallet = anotherWallet()
      const first = (await settle(wallet)).ok!.paymentId
      await rig.control('faults', { webhooks: { drop } })
      await rig.control(`sessions/${first}/pay`, { channel_code: 'QRIS' })
      if (!drop) await becomes(first, { state: 'paid' })
      const quoteId = rig.quote()
      expect(await settle(wallet, quoteId)).toEqual({ refused: 'settlement_on_its_way' })
      expect(rig.quotes.get(quoteId)!.takenBy).toBeUndefined()
      await becomes(first, { state: 'paid' })
      // Repaid: what is drawn since is another debt.
      await rig.settle('repay', first)
      expect(await settle(wallet, quoteId)).toHaveProperty('ok')
      await rig.control('faults', {})
    }
  })

  test('is refused for now when the provider cannot say; the same quote works later', async () => {
    const wallet = anotherWallet()
    const first = (await settle(wallet)).ok!.paymentId
    const quoteId = rig.quote()
    for (const api of [{ errorRate: 1 }, { errorAfterAccept: 1 }]) {
      await rig.control('faults', { api })
      expect(await settle(wallet, quoteId)).toEqual({ refused: 'provider_unavailable' })
      expect(rig.quotes.get(quoteId)!.takenBy).toBeUndefined()
    }
    await becomes(first, { state: 'awaiting_payment' })
    await rig.control('faults', {})
    expect(await settle(wallet, quoteId)).toHaveProperty('ok')
    await becomes(first, { state: 'replaced' })
  })

  test.each([
    ['an unknown quote', 'quote_unknown', () => crypto.randomUUID()],
    ['a debt too small', 'debt_too_small', () => rig.quote('USD/MYR', '1')],
  ])('that is refused for %s leaves the first as it is', async (_, refused, quoteOf) => {
    const wallet = anotherWallet()
    const first = (await settle(wallet)).ok!.paymentId
    expect(await settle(wallet, quoteOf())).toEqual({ refused })
    expect(await rig.row(first)).toMatchObject({ state: 'awaiting_payment' })
    expect(await sessionOf(first)).toMatchObject({ status: 'ACTIVE' })
  })

  test('ten times at once leaves one open checkout, here and at the provider', async () => {
    const wallet = anotherWallet()
    await Promise.all(Array.from({ length: 10 }, () => settle(wallet)))
    const rows = (await rig.rows()).filter((row) => row.wallet === wallet)
    expect(rows.filter(({ state }) => state === 'awaiting_payment').length).toBeLessThanOrEqual(1)
    expect(rows.filter(({ state }) => state === 'opening').length).toBe(0)
    const { sessions } = (await rig.control('book')) as unknown as {
      sessions: { reference_id: string; status: string }[]
    }
    const ids = new Set(rows.map(({ id }) => id))
    const active = sessions.filter(
      (session) => ids.has(session.reference_id) && session.status === 'ACTIVE',
    )
    expect(active.length).toBeLessThanOrEqual(1)
  })
})

describe('money that comes on a replaced checkout', () => {
  test('repays under its own ref, and what comes on the new one too', async () => {
    const wallet = anotherWallet()
    const first = (await settle(wallet)).ok!.paymentId
    await rig.control(`sessions/${first}/choose`, { channel_code: 'BCA_VIRTUAL_ACCOUNT' })
    const second = (await settle(wallet)).ok!.paymentId
    await rig.control(`sessions/${first}/pay`, { channel_code: 'BCA_VIRTUAL_ACCOUNT' })
    await becomes(first, { state: 'paid' })
    await rig.control(`sessions/${second}/pay`, { channel_code: 'CARDS', force: true })
    await becomes(second, { state: 'paid' })
    for (const [id, held] of [
      [first, false],
      [second, true],
    ] as const) {
      const [order] = (await rig.orders(id)).filter(({ subject }) => subject === 'relay.repay')
      expect(order!.payload).toMatchObject({ refId: id, ausd: '3000000', held })
    }
  })

  test('that nobody told of is found, for a day', async () => {
    const wallet = anotherWallet()
    const first = (await settle(wallet)).ok!.paymentId
    await rig.control(`sessions/${first}/choose`, { channel_code: 'BCA_VIRTUAL_ACCOUNT' })
    await settle(wallet)
    await rig.control('faults', { webhooks: { drop: 1 } })
    await rig.control(`sessions/${first}/pay`, { channel_code: 'BCA_VIRTUAL_ACCOUNT' })
    await rig.list()
    await becomes(first, { state: 'paid' })
  })
})
