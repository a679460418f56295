import { afterAll, describe, expect, test } from 'bun:test'
import { newWallet, openFixture, waitUntil, wallet } from '../test-support'
import { readStats } from './activity'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())

const topup = async (from: string = wallet) =>
  (await fixture.topup({ wallet: from, amount: '50000', method: 'qr', quoteId: fixture.quote() })).ok!
const list = async (request: object) => (await fixture.activity(request)).ok!

describe('the activity of a wallet', () => {
  test('shows an unpaid checkout with its URL until it expires', async () => {
    const { paymentId, checkoutUrl } = await topup()
    const entry = {
      id: paymentId,
      kind: 'topup',
      status: 'awaiting_payment',
      checkoutUrl,
      nextAction: 'pay',
    }
    const before = await list({ wallet, limit: 10 })
    expect(before.inFlight).toContainEqual(expect.objectContaining({ ...entry, inFlight: true }))
    fixture.time.aheadMs = 1_801_000
    const { inFlight, items } = await list({ wallet, limit: 10 })
    fixture.time.aheadMs = 0
    expect(inFlight).toEqual([])
    expect(items[0]).toMatchObject({ id: paymentId, status: 'expired', inFlight: false })
    expect(items[0]).not.toHaveProperty('checkoutUrl')
    // A payment that was made in time, but whose webhook is late, looks the same: the payer must not pay again.
    expect(items[0]).toMatchObject({ nextAction: 'wait' })
    expect(items[0]!.sentence).toContain('We are waiting for the payment provider to confirm')
    await fixture.control(`sessions/${paymentId}/expire`)
    await fixture.becomes(paymentId, { state: 'expired' })
    const after = (await list({ wallet, limit: 10 })).items[0]
    expect(after).toMatchObject({ reason: 'not_paid_in_time', nextAction: null })
  })

  test('shows paid money as pending until it is on the chain', async () => {
    const { paymentId } = await topup()
    await fixture.control(`sessions/${paymentId}/pay`, { channel_code: 'QRIS' })
    const flying = async () => (await list({ wallet, limit: 10 })).inFlight.find(({ id }) => id === paymentId)
    const entry = await waitUntil('being paid', async () => {
      const seen = await flying()
      return seen?.status === 'paid' && seen
    })
    expect(entry).toMatchObject({
      channel: 'qr',
      channelCode: 'QRIS',
      nextAction: 'wait',
      fiat: '50000',
      ausd: '3076923',
      method: 'qr',
    })
    expect(await readStats(fixture.context)).toMatchObject({
      inFlight: 1,
      deadLetters: 0,
      inReview: 0,
    })
    await fixture.settle('credit', paymentId)
    expect(await flying()).toBeUndefined()
  })

  test('is paged without gaps or repeats, newest first, and for its owner only', async () => {
    const other = `0x${'2'.repeat(40)}`
    const made: string[] = []
    for (let index = 0; index < 7; index++) made.push((await topup(other)).paymentId)
    const seen: { id: string; createdAt: string }[] = []
    let before: object | undefined
    for (let page = 0; page < 4; page++) {
      const { items } = await list({
        wallet: other.toUpperCase().replace('X', 'x'),
        limit: 2,
        before,
      })
      seen.push(...(items as unknown as typeof seen))
      before = seen.at(-1)
    }
    expect(new Set(seen.map(({ id }) => id))).toEqual(new Set(made))
    expect(seen.length).toBe(7)
    const times = seen.map(({ createdAt }) => createdAt)
    expect(times).toEqual([...times].sort().reverse())
  })

  test('leaves less of the daily limit with each top-up, and the limit of other wallets whole', async () => {
    const [person, other] = [newWallet(), newWallet()]
    const leftOf = async (of: string) => BigInt((await fixture.limit({ wallet: of })).ok!.left)
    expect(await leftOf(person)).toBe(10n ** 11n)
    await topup(person)
    await topup(person)
    expect(await leftOf(person)).toBe(10n ** 11n - 2n * 3_076_923n)
    expect(await leftOf(other)).toBe(10n ** 11n)
  })

  test('has each item by its id for its owner, and for no other wallet', async () => {
    const person = newWallet()
    const { paymentId: id } = await topup(person)
    const { items } = await list({ wallet: person, limit: 10 })
    const itemOf = async (asked: object) => (await fixture.item(asked)).ok!.item
    expect(await itemOf({ wallet: person, id })).toEqual(items[0]!)
    expect(await itemOf({ wallet: newWallet(), id })).toBeNull()
    expect(await itemOf({ wallet: person, id: `${id.slice(0, -1)}~` })).toBeNull()
  })

  test('omits a checkout that could not be opened', async () => {
    const nobody = `0x${'3'.repeat(40)}`
    await fixture.control('faults', { api: { errorRate: 1 } })
    const asked = { wallet: nobody, amount: '50000', method: 'qr', quoteId: fixture.quote() }
    expect(await fixture.topup(asked)).toEqual({ refused: 'provider_unavailable' })
    await fixture.control('faults', {})
    expect(await list({ wallet: nobody, limit: 10 })).toMatchObject({ items: [], inFlight: [] })
  })
})
