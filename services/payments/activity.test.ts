import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { waitUntil } from '#infra/local/wait'
import { nextLook } from './look'
import { leaseLooks } from './look.store'
import type { PaymentState } from './payment'
import { openRig, type Rig, wallet } from './rig.test'
import { readStats } from './stats.store'

let rig: Rig
beforeAll(async () => {
  rig = await openRig()
}, 60_000)
afterAll(() => rig?.[Symbol.asyncDispose]())

const topup = async (from: string = wallet) =>
  (await rig.topup({ wallet: from, amount: '50000', method: 'qr', quoteId: rig.quote() })).ok!
const list = async (request: object) => (await rig.activity(request)).ok!

describe('the activity of a wallet', () => {
  test('shows an unpaid checkout with its address until it expires', async () => {
    const { paymentId, checkoutUrl } = await topup()
    const entry = { id: paymentId, kind: 'topup', status: 'awaiting_payment', checkoutUrl }
    const before = await list({ wallet, limit: 10 })
    expect(before.inFlight).toContainEqual(expect.objectContaining({ ...entry, inFlight: true }))
    rig.time.aheadMs = 1_801_000
    const { inFlight, items } = await list({ wallet, limit: 10 })
    rig.time.aheadMs = 0
    expect(inFlight).toEqual([])
    expect(items[0]).toMatchObject({ id: paymentId, status: 'expired', inFlight: false })
    expect(items[0]).not.toHaveProperty('checkoutUrl')
    expect(items[0]!.reason).toBe('the checkout was not paid in time')
  })

  test('shows paid money in flight until it is on the chain', async () => {
    const { paymentId } = await topup()
    await rig.control(`sessions/${paymentId}/pay`, { channel_code: 'QRIS' })
    const flying = async () =>
      (await list({ wallet, limit: 10 })).inFlight.find(({ id }) => id === paymentId)
    const entry = await waitUntil('being paid', async () => {
      const seen = await flying()
      return seen?.status === 'paid' && seen
    })
    expect(entry).toMatchObject({ channel: 'QRIS', fiat: '50000', ausd: '3076923', method: 'qr' })
    expect(await readStats(rig.database)).toMatchObject({
      inFlight: 1,
      deadLetters: 0,
      inReview: 0,
    })
    await rig.settle('credit', paymentId)
    expect(await flying()).toBeUndefined()
  })

  test('is paged without gaps or repeats, newest first, and to its owner alone', async () => {
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

  test('does not show a checkout that could not be opened', async () => {
    const nobody = `0x${'3'.repeat(40)}`
    await rig.control('faults', { api: { errorRate: 1 } })
    const asked = { wallet: nobody, amount: '50000', method: 'qr', quoteId: rig.quote() }
    expect(await rig.topup(asked)).toEqual({ refused: 'provider_unavailable' })
    await rig.control('faults', {})
    expect(await list({ wallet: nobody, limit: 10 })).toMatchObject({ items: [], inFlight: [] })
  })
})

describe('the sweeper', () => {
  test('of two copies never looks at one payment twice', async () => {
    const now = new Date(Date.now() + 7_200_000)
    const shares = await Promise.all([
      leaseLooks(rig.database, now, 5),
      leaseLooks(rig.database, now, 5),
    ])
    const ids = shares.flat().map(({ id }) => id)
    expect(ids.length).toBeGreaterThan(5)
    expect(new Set(ids).size).toBe(ids.length)
  })

  const at = (ms: number) => new Date(ms)
  test.each([
    ['opening', 0, at(600_000)],
    ['awaiting_payment', 0, at(20_000)],
    ['awaiting_payment', 50, at(20_000)],
    ['paid', 0, at(20_000)],
    ['paid', 3, at(160_000)],
    ['paid', 50, at(600_000)],
    ['revoking', 1, at(40_000)],
    ['held', 0, at(0)],
    ['held', 9, at(20_000)],
    ['repaid', 9, at(20_000)],
    ['expired', 0, at(20_000)],
    ['replaced', 0, at(20_000)],
    ['expired', 50, at(3_600_000)],
    ['credited', 0, null],
    ['review', 0, null],
  ] as const)('looks at %s after %p looks at %p', (state, looks, when) => {
    const quiet = { state: state as PaymentState, looks, createdAt: at(0), expiresAt: at(0) }
    expect(nextLook({ ...quiet, onHold: true }, 0, 20_000)).toEqual(when)
  })

  test('has nothing to ask of a settlement that nobody can take back', () => {
    const quiet = { state: 'repaid', looks: 0, createdAt: at(0), expiresAt: at(0) } as const
    expect(nextLook({ ...quiet, onHold: false }, 0, 20_000)).toBeNull()
  })

  test('gives late money a day', () => {
    const quiet = { state: 'expired', looks: 20, createdAt: at(0), expiresAt: at(0) } as const
    expect(nextLook(quiet, 82_800_000, 20_000)).not.toBeNull()
    expect(nextLook(quiet, 82_800_001, 20_000)).toBeNull()
  })
})
