import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { payments } from '../payment.table'
import { newWallet, openFixture } from '../test-support'
import { sumAllTopups } from './sums.store'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())
beforeEach(async () => {
  Object.assign(fixture.chain, {
    verified: true,
    frozen: false,
    drawn: '3000000',
    owedForDay: null,
    openedAt: null,
    repayMax: 10n ** 15n,
    treasury: { balance: 10n ** 15n, drawable: 10n ** 15n, ordered: 0n },
  })
  limits()
  limitOfAll(null)
  await fixture.control('faults', {})
  await fixture.pause('running')
  await fixture.context.treasury.refresh()
})

const limits = (dayMicroMax = 10n ** 11n, openMicroMax = 10n ** 11n) =>
  Object.assign(fixture.context, { topupLimits: { openMax: 100, dayCountMax: 100, openMicroMax, dayMicroMax } })
const limitOfAll = (allDayMicroMax: bigint | null) => Object.assign(fixture.context, { allDayMicroMax })
const settle = (wallet: string) => fixture.settlement({ wallet, quoteId: fixture.quote() })
/** Requests a top-up of 1 AUSD. */
const topup = (wallet: string) => fixture.topup({ wallet, amount: '16250', method: 'qr', quoteId: fixture.quote() })
const pay = (id: string, channel_code = 'QRIS') => fixture.control(`sessions/${id}/pay`, { channel_code, force: true })
const opened = async (wallet: string) => (await settle(wallet)).ok!.paymentId

describe('security: a debt that was drawn today', () => {
  beforeEach(() => {
    fixture.chain.owedForDay = '0'
  })

  test.each([
    ['the daily limit', () => limits(2_999_999n), 'amount_above_day_limit'],
    ['the limit on open checkouts', () => limits(10n ** 11n, 2_999_999n), 'topups_open_too_much'],
  ])('can be settled only within %s of top-ups', async (_, change, refused) => {
    const wallet = newWallet()
    change()
    expect(await settle(wallet)).toEqual({ refused } as never)
    limits(3_000_000n, 3_000_000n)
    expect(await settle(wallet)).toHaveProperty('ok')
    expect(await topup(wallet)).toHaveProperty('refused')
  })

  test('cannot be settled while top-ups are paused, or if the treasury does not cover it', async () => {
    await fixture.pause('paused')
    expect((await settle(newWallet())).refused).toBe('topups_paused')
    await fixture.pause('running')
    fixture.chain.treasury = { balance: 3_000_000n, drawable: 10n ** 15n, ordered: 0n }
    await fixture.context.treasury.refresh()
    expect((await settle(newWallet())).refused).toBe('treasury_short')
  })

  test('is payable without verification, but money beyond it becomes no collateral', async () => {
    fixture.chain.verified = false
    const [paying, repaying] = [await opened(newWallet()), await opened(newWallet())]
    await pay(paying)
    await fixture.becomes(paying, { state: 'paid', topupMicro: 0n })
    fixture.chain.drawn = '0'
    await pay(repaying)
    await fixture.becomes(repaying, { state: 'review', reason: 'excess_refused' })
  })

  // guard: a debt that is not ripe is held to the limits of top-ups
  test('counts for the rest of the day after its settlement', async () => {
    const wallet = newWallet()
    limits(5_000_000n)
    const id = await opened(wallet)
    await pay(id)
    await fixture.becomes(id, { state: 'paid' })
    await fixture.settle('repay', id)
    expect((await settle(wallet)).refused).toBe('day_limit_reached')
    expect(await topup(wallet)).toHaveProperty('ok')
  })
})

describe('a debt that is due, or older than a day', () => {
  const aged = [
    ['owed for a day', () => ({ owedForDay: '3000000' })],
    ['past its term', () => ({ owedForDay: '0', openedAt: fixture.context.clock() / 1_000 - 31 * 86_400 })],
  ] as const

  test.each(aged)('is payable whatever the limits: %s', async (_, change) => {
    Object.assign(fixture.chain, change())
    const wallet = newWallet()
    limits(1n, 1n)
    await fixture.pause('paused')
    const id = await opened(wallet)
    await pay(id)
    await fixture.becomes(id, { state: 'paid' })
    expect(await fixture.subjects(id)).toEqual(['payments.paid', 'relay.repay'])
  })

  test('is subject to the limits for the part drawn since', async () => {
    Object.assign(fixture.chain, { owedForDay: '2000000' })
    limits(999_999n)
    expect((await settle(newWallet())).refused).toBe('amount_above_day_limit')
    limits(1_000_000n)
    expect(await settle(newWallet())).toHaveProperty('ok')
  })
})

test('security: several checkouts for one old debt, paid at the same moment, repay it once', async () => {
  const wallet = newWallet()
  const ids: string[] = []
  for (const drawn of ['3000000', '3000001', '3000002']) {
    Object.assign(fixture.chain, { drawn })
    ids.push(await opened(wallet))
  }
  limits(1n, 1n)
  for (const id of ids) await pay(id, 'BCA_VIRTUAL_ACCOUNT')
  for (const id of ids) await fixture.becomesEither(id, ['paid', 'review'])
  const rows = await Promise.all(ids.map(fixture.row))
  const repaid = rows.flatMap((row) => (row!.state === 'paid' ? [row!.onchainMicro] : []))
  expect(repaid.reduce((sum, one) => sum + one, 0n)).toBe(3_000_002n)
  const refused = rows.filter((row) => row!.state === 'review' || row!.overpaidMinor > 0n)
  expect(refused).toHaveLength(2)
})

describe('security: money for a checkout that ended on an earlier day', () => {
  const dayMs = 86_400_000
  /** Lets a top-up of 1 AUSD end unpaid, as if that were days ago. */
  async function endedBefore(wallet: string, days: number): Promise<string> {
    const id = (await topup(wallet)).ok!.paymentId
    const then = new Date(fixture.context.clock() - days * dayMs)
    const set = { topupAt: then, expiresAt: then, state: 'expired' as const }
    await fixture.database.run((db) => db.update(payments).set(set).where(eq(payments.id, id)))
    return id
  }

  test('counts for the day on which it arrives', async () => {
    const wallet = newWallet()
    const ids = await Promise.all([1, 2, 3].map((days) => endedBefore(wallet, days)))
    limits(2_000_000n)
    for (const id of ids) {
      await pay(id)
      await fixture.becomesEither(id, ['paid', 'review'])
    }
    const rows = await Promise.all(ids.map(fixture.row))
    expect(rows.map((row) => row!.state).toSorted()).toEqual(['paid', 'paid', 'review'])
    expect((await topup(wallet)).refused).toBe('day_limit_reached')
  })

  test('goes to review while top-ups are paused', async () => {
    const id = await endedBefore(newWallet(), 1)
    await fixture.pause('paused')
    await pay(id)
    await fixture.becomes(id, { state: 'review', reason: 'excess_refused' })
  })

  test('of the same day is credited whatever the limits, which have counted it', async () => {
    const wallet = newWallet()
    const id = (await topup(wallet)).ok!.paymentId
    const set = { expiresAt: new Date(fixture.context.clock() - 1_000), state: 'expired' as const }
    await fixture.database.run((db) => db.update(payments).set(set).where(eq(payments.id, id)))
    limits(1n)
    await fixture.pause('paused')
    await pay(id)
    await fixture.becomes(id, { state: 'paid' })
  })
})

// guard: a settlement repays no more of a debt than was paid
test('security: money for a replaced checkout repays no more of a debt that has grown than was paid', async () => {
  fixture.chain.owedForDay = '0'
  const wallet = newWallet()
  const id = await opened(wallet)
  fixture.chain.drawn = '5000000'
  const newer = await opened(wallet)
  await fixture.becomes(id, { state: 'replaced' })
  limits(5_000_000n)
  await pay(id)
  const paid = await fixture.becomes(id, { state: 'paid' })
  expect(paid).toMatchObject({ onchainMicro: 3_000_000n, ausdMicro: 3_000_000n, fiatMinor: 48_750n, overpaidMinor: 0n })
  expect(await fixture.row(newer)).toMatchObject({ state: 'awaiting_payment' })
})

describe('security: money for a checkout that ended unpaid, and so left its room to other wallets', () => {
  const sum = () => fixture.database.read((db) => sumAllTopups(db, new Date(fixture.context.clock())))
  const ways = {
    expired: async (wallet: string) => {
      const id = (await topup(wallet)).ok!.paymentId
      await fixture.control(`sessions/${id}/expire`)
      return id
    },
    cancelled: async (wallet: string) => {
      const id = (await topup(wallet)).ok!.paymentId
      await fixture.cancel({ wallet, kind: 'topup', id })
      return id
    },
  }
  const ended = async (way: keyof typeof ways) => {
    const id = await ways[way](newWallet())
    await fixture.becomes(id, { state: 'expired' })
    return id
  }

  // guard: what exceeds a debt is held to the limit of all wallets
  test.each(Object.keys(ways) as (keyof typeof ways)[])(
    'goes to review if top-ups of others have reached the limit of all wallets since (%s)',
    async (way) => {
      const id = await ended(way)
      limitOfAll((await sum()) + 1_000_000n)
      expect(await topup(newWallet())).toHaveProperty('ok')
      await pay(id)
      await fixture.becomes(id, { state: 'review', reason: 'excess_refused' })
    },
  )

  test.each(Object.keys(ways) as (keyof typeof ways)[])(
    'counts for the limit of all wallets again if it has room (%s)',
    async (way) => {
      const id = await ended(way)
      const before = await sum()
      limitOfAll(before + 1_000_000n)
      await pay(id)
      await fixture.becomes(id, { state: 'paid' })
      expect(await sum()).toBe(before + 1_000_000n)
      expect(await topup(newWallet())).toEqual({ refused: 'day_limit_of_all_reached' } as never)
    },
  )

  test('repays a debt of today whatever the limit of all wallets', async () => {
    fixture.chain.owedForDay = '0'
    const id = await opened(newWallet())
    await fixture.control(`sessions/${id}/expire`)
    await fixture.becomes(id, { state: 'expired' })
    limitOfAll(0n)
    await pay(id)
    await fixture.becomes(id, { state: 'paid', onchainMicro: 3_000_000n })
  })
})

describe('security: a debt that is repaid before its checkout is paid', () => {
  const shrunk = async (drawn: string, channel = 'QRIS') => {
    const wallet = newWallet()
    const id = await opened(wallet)
    fixture.chain.drawn = drawn
    return { wallet, id, pay: () => pay(id, channel) }
  }

  test('makes the payment a top-up, which counts as one', async () => {
    const { wallet, id, pay } = await shrunk('1000000')
    limits(2_500_000n)
    await pay()
    expect(await fixture.becomes(id, { state: 'paid' })).toMatchObject({ topupMicro: 2_000_000n })
    expect((await topup(wallet)).refused).toBe('day_limit_reached')
  })

  test.each([
    ['the daily limit is reached', () => void limits(1_999_999n)],
    ['the open checkouts reach their limit', () => void limits(10n ** 11n, 1_999_999n)],
    ['all wallets together have reached their limit', () => void limitOfAll(0n)],
    ['top-ups are paused', () => fixture.pause('paused')],
    ['its owner is verified no longer', () => void Object.assign(fixture.chain, { verified: false })],
    [
      'the treasury does not cover it',
      async () => {
        fixture.chain.treasury = { balance: 1n, drawable: 10n ** 15n, ordered: 0n }
        await fixture.context.treasury.refresh()
      },
    ],
  ])('repays what is still owed if %s, and the rest goes back to its payer', async (_, change) => {
    const { id, pay } = await shrunk('1000000')
    await change()
    await pay()
    const paid = await fixture.becomes(id, { state: 'paid', onchainMicro: 1_000_000n, ausdMicro: 1_000_000n })
    expect(paid).toMatchObject({ reason: 'overpaid', fiatMinor: 16_250n, paidMinor: 16_250n, overpaidMinor: 32_500n })
    expect(await fixture.subjects(id)).toEqual(['payments.paid', 'relay.repay'])
    await fixture.settle('repay', id)
    await fixture.becomes(id, { state: 'review', reason: 'overpaid', creditedAt: expect.any(Date) })
    await fixture.resolve(id, 'refund')
    expect(await fixture.orderedRefunds(id)).toMatchObject([
      { minor: 32_500n, providerPaymentId: paid!.providerPaymentId },
    ])
  })

  test.each([
    ['the daily limit is reached', () => void limits(1_999_999n)],
    ['top-ups are paused', () => fixture.pause('paused')],
  ])('goes to review if nothing is owed and %s, and back to its payer', async (_, change) => {
    const { id, pay } = await shrunk('0')
    await change()
    await pay()
    await fixture.becomes(id, { state: 'review', reason: 'excess_refused' })
    expect(await fixture.subjects(id)).toEqual(['payments.review'])
    await fixture.resolve(id, 'refund')
    await fixture.becomes(id, { state: 'refunding' })
  })

  test('goes to review if it is paid by card and the wallet is frozen', async () => {
    const { id, pay } = await shrunk('0', 'CARDS')
    fixture.chain.frozen = true
    await pay()
    await fixture.becomes(id, { state: 'review', reason: 'excess_refused' })
  })

  test('waits while the debt cannot be read', async () => {
    const { id, pay } = await shrunk('1000000')
    fixture.chain.isDown = true
    await fixture.control('faults', { webhooks: { drop: 1 } })
    await pay()
    await fixture.recheck()
    expect(await fixture.row(id)).toMatchObject({ state: 'awaiting_payment' })
    fixture.chain.isDown = false
    await fixture.recheck(60_000)
    await fixture.becomes(id, { state: 'paid', topupMicro: 2_000_000n })
    fixture.time.aheadMs = 0
  })

  test('holds money for a replaced checkout to the limits when it arrives', async () => {
    const { wallet, id } = await shrunk('1000000')
    await fixture.control(`sessions/${id}/choose`, { channel_code: 'BCA_VIRTUAL_ACCOUNT' })
    const second = await opened(wallet)
    await fixture.becomes(id, { state: 'replaced' })
    await pay(second)
    await fixture.becomes(second, { state: 'paid' })
    await fixture.settle('repay', second)
    fixture.chain.drawn = '0'
    limits(2_999_999n)
    await pay(id, 'BCA_VIRTUAL_ACCOUNT')
    await fixture.becomes(id, { state: 'review', reason: 'excess_refused' })
  })

  // guard: what exceeds a debt is held to the limits of top-ups
  test('several times in a row is stopped by the daily limit', async () => {
    limits(7_000_000n)
    const wallet = newWallet()
    const states: string[] = []
    for (let round = 0; round < 4; round++) {
      fixture.chain.drawn = '3000000'
      const id = await opened(wallet)
      fixture.chain.drawn = '0'
      await pay(id)
      const row = await fixture.becomesEither(id, ['paid', 'review'])
      states.push(row.state)
      if (row.state === 'paid') await fixture.settle('repay', id)
    }
    expect(states).toEqual(['paid', 'paid', 'review', 'review'])
  })
})

test('a debt above what one repayment may move is refused before it is charged', async () => {
  fixture.chain.repayMax = 2_999_999n
  await fixture.context.treasury.refresh()
  const quoteId = fixture.quote()
  const asked = { wallet: newWallet(), quoteId }
  expect(await fixture.settlement(asked)).toEqual({ refused: 'debt_too_large' })
  expect(fixture.quotes.get(quoteId)!.requestFingerprint).toBeUndefined()
})

test('settlements that were paid are not counted among those of an hour', async () => {
  const wallet = newWallet()
  for (let number = 1; number <= 11; number++) {
    const id = (await settle(wallet)).ok!.paymentId
    await fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS' })
    await fixture.becomes(id, { state: 'paid' })
    await fixture.settle('repay', id)
  }
})

test('security: a wallet leaves ten settlements an hour unpaid; a further request makes no call of the provider', async () => {
  const wallet = newWallet()
  for (let number = 1; number <= 10; number++) {
    fixture.chain.drawn = String(number * 1_000_000)
    expect(await settle(wallet)).toHaveProperty('ok')
  }
  fixture.chain.drawn = '11000000'
  const { findCheckout } = fixture.context.provider
  let calls = 0
  const counted: typeof findCheckout = (...asked) => {
    calls += 1
    return findCheckout(...asked)
  }
  const provider = { ...fixture.context.provider, findCheckout: counted }
  Object.assign(fixture.context, { provider })
  expect(await settle(wallet)).toEqual({ refused: 'settlements_too_many' })
  expect(calls).toBe(0)
  fixture.chain.drawn = '10000000'
  expect(await settle(wallet)).toHaveProperty('ok') // The response is the open settlement again.
})
