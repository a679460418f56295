import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { moneyText } from '#shared/money/text'
import { feeChannels, type QuotedTopupFees } from '#shared/money/topup-fee'
import { booksOf } from '../ledger/test-support'
import { newWallet, openFixture } from '../test-support'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())
beforeEach(async () => {
  Object.assign(fixture.chain, { verified: true, drawn: '3000000', frozen: false, ref: 'unused' })
  fixture.present.set('USD/IDR', '16250')
  await fixture.rest()
})
const { booked } = booksOf(fixture)

const fees = [
  { channel: 'bank', fixed: '4440', bps: 0 },
  { channel: 'qr', fixed: '0', bps: 70 },
  { channel: 'card', fixed: '2220', bps: 322 },
] as const

function quoteWithFees(named: QuotedTopupFees = fees): string {
  const quoteId = fixture.quote()
  fixture.quotes.get(quoteId)!.topupFees = named
  return quoteId
}
/** Opens a top-up of Rp 100,000, which are worth 6.153846 AUSD before the fee. */
const asked = (wallet = newWallet()) => ({ wallet, amount: '100000', method: 'qr', quoteId: quoteWithFees() })
const open = async (wallet?: `0x${string}`) => (await fixture.topup(asked(wallet))).ok!.paymentId
const pay = (id: string, channel_code: string, more: object = {}) =>
  fixture.control(`sessions/${id}/pay`, { channel_code, force: true, ...more })
async function paid(channel: string, wallet?: `0x${string}`): Promise<string> {
  const id = await open(wallet)
  await pay(id, channel)
  await fixture.becomes(id, { state: 'paid' })
  return id
}
const creditedFor = async (id: string) =>
  (await fixture.orders(id)).flatMap(({ subject, payload }) =>
    subject === 'relay.credit' ? [(payload as { ausd: string }).ausd] : [],
  )

describe('a top-up whose quote has fees', () => {
  // guard: a top-up pays the fee of the channel that was charged
  test.each([
    ['QRIS', 700n, 6_110_769n],
    ['CARDS', 5_440n, 5_819_076n],
    ['BCA_VIRTUAL_ACCOUNT', 4_440n, 5_880_615n],
  ])(
    'by %s pays the fee of that channel, Rp %p, and is credited for the rest',
    async (channel, feeMinor, ausdMicro) => {
      const request = asked()
      const answer = await fixture.topup(request)
      const id = answer.ok!.paymentId
      expect(answer.ok).toMatchObject({ fiat: '100000', ausd: '6153846' })
      expect(await fixture.row(id)).toMatchObject({ topupFees: 'bank=4440+0,qr=0+70,card=2220+322', feeMinor: 0n })
      await pay(id, channel)
      const row = await fixture.becomes(id, { state: 'paid' })
      expect(row).toMatchObject({
        fiatMinor: 100_000n,
        feeMinor,
        ausdMicro,
        topupMicro: ausdMicro,
        promisedMicro: 6_153_846n,
        reason: null,
      })
      expect(await creditedFor(id)).toEqual([String(ausdMicro)])
      expect(await booked(id)).toMatchObject({
        'provider_id IDR': 100_000n,
        'fees_earned IDR': -feeMinor,
        'exchange IDR': feeMinor - 100_000n,
        'promises AUSD': -ausdMicro,
      })
      expect(await fixture.topup(request)).toEqual(answer)
      const item = (await fixture.item({ wallet: request.wallet, id })).ok!.item
      expect(item).toMatchObject({ fiat: '100000', fee: `${feeMinor}`, ausd: `${ausdMicro}` })
      const { left } = (await fixture.limit({ wallet: request.wallet })).ok!
      expect(BigInt(left)).toBe(fixture.context.topupLimits.dayMicroMax - ausdMicro)
    },
  )

  test('by a channel that the fees do not name pays none, and has no fee in its item', async () => {
    const wallet = newWallet()
    const id = await paid('DANA', wallet)
    expect(await fixture.row(id)).toMatchObject({ feeMinor: 0n, ausdMicro: 6_153_846n, promisedMicro: null })
    expect((await fixture.item({ wallet, id })).ok!.item).not.toHaveProperty('fee')
    expect(await booked(id)).not.toHaveProperty('fees_earned IDR')
  })

  test('names its fees in the checkout at the provider, for a restore', async () => {
    const id = await open()
    const sessions = (await fixture.control('book')).sessions! as Record<string, unknown>[]
    expect(sessions.find(({ reference_id }) => reference_id === id)).toMatchObject({
      metadata: { fee_bank: '4440+0', fee_qr: '0+70', fee_card: '2220+322', ausd: '6153846' },
    })
  })

  test('has a checkout also if every kind of channel has the highest fee, which are too many for one entry of metadata', async () => {
    const highest = feeChannels.map((channel) => ({ channel, fixed: '8000', bps: 1_000 }))
    const answer = await fixture.topup({ ...asked(), quoteId: quoteWithFees(highest) })
    expect(answer.ok).toMatchObject({ fiat: '100000' })
  })

  // guard: a top-up keeps the fees of its quote
  test('keeps the fees that it was promised, whatever is set later', async () => {
    const request = asked()
    const id = (await fixture.topup(request)).ok!.paymentId
    fixture.quotes.get(request.quoteId)!.topupFees = [{ channel: 'qr', fixed: '8000', bps: 1_000 }]
    await pay(id, 'QRIS')
    expect(await fixture.becomes(id, { state: 'paid' })).toMatchObject({ feeMinor: 700n })
  })

  test('that is paid late is credited for the rest at the worse rate', async () => {
    const id = await open()
    await fixture.control(`sessions/${id}/expire`)
    await fixture.becomes(id, { state: 'expired' })
    fixture.present.delete('USD/IDR')
    await pay(id, 'QRIS')
    await fixture.becomes(id, { reason: 'awaiting_rate', feeMinor: 0n })
    expect(await booked(id)).toEqual({ 'provider_id IDR': 100_000n, 'suspense IDR': -100_000n })
    fixture.present.set('USD/IDR', '16900')
    await fixture.recheck(700_000)
    // Rp 99,300 at Rp 16,900.
    const row = await fixture.becomes(id, { state: 'paid' })
    expect(row).toMatchObject({ feeMinor: 700n, ausdMicro: 5_875_739n, promisedMicro: 6_153_846n })
    expect(await booked(id)).toMatchObject({ 'fees_earned IDR': -700n, 'promises AUSD': -5_875_739n })
  })
})

describe('the limits of a day count the AUSD of a top-up after its fee', () => {
  const usedOf = async (wallet: `0x${string}`) =>
    fixture.context.topupLimits.dayMicroMax - BigInt((await fixture.limit({ wallet })).ok!.left)

  // guard: the limits of a day count the AUSD after the fee
  test('if it is paid in time', async () => {
    const wallet = newWallet()
    await paid('QRIS', wallet)
    expect(await usedOf(wallet)).toBe(6_110_769n)
  })

  test('if it is paid after its checkout ended, and a limit of all wallets admits it again', async () => {
    Object.assign(fixture.context, { allDayMicroMax: 10n ** 15n })
    const wallet = newWallet()
    const id = await open(wallet)
    await fixture.control(`sessions/${id}/expire`)
    await fixture.becomes(id, { state: 'expired' })
    await pay(id, 'QRIS')
    await fixture.becomes(id, { state: 'paid', ausdMicro: 6_110_769n })
    Object.assign(fixture.context, { allDayMicroMax: null })
    expect(await usedOf(wallet)).toBe(6_110_769n)
  })

  test('if an operator credits it', async () => {
    const wallet = newWallet()
    const id = await open(wallet)
    await pay(id, 'QRIS', { amount: 80_000 })
    await fixture.becomes(id, { state: 'review', reason: 'amount_differs' })
    expect((await fixture.resolve(id, 'credit')).ok!.done).toContain('4.888615 AUSD')
    await fixture.becomes(id, { state: 'paid' })
    expect(await usedOf(wallet)).toBe(4_888_615n)
  })
})

describe('money of a top-up with a fee that goes back', () => {
  test('during its hold takes back the credit and the fee, in proportion', async () => {
    const id = await paid('CARDS')
    await fixture.settle('credit', id)
    await fixture.becomes(id, { state: 'held' })
    await fixture.control(`payments/${id}/refund`, { amount: 50_000 })
    // Half of 5.819076 AUSD stays, and half of the fee.
    await fixture.becomes(id, { state: 'revoking', leftMicro: 2_909_538n })
    expect(await booked(id)).toMatchObject({ 'fees_earned IDR': -2_720n, 'clawback AUSD': 2_909_538n })
    await fixture.settle('revoke', `${id}:2909538`)
    await fixture.becomes(id, { state: 'held', onchainMicro: 2_909_538n })
    await fixture.control(`payments/${id}/refund`, { amount: 50_000 })
    await fixture.becomes(id, { state: 'revoking', leftMicro: 0n })
    await fixture.settle('revoke', id)
    const { wallet } = await fixture.becomes(id, { state: 'revoked' })
    expect(await booked(id)).toEqual({})
    // All of the money is back, so no fee is named any longer.
    expect((await fixture.item({ wallet, id })).ok!.item).not.toHaveProperty('fee')
    const period = { wallet, from: '2026-01-01T00:00:00Z', to: '2099-01-01T00:00:00Z' }
    const statement = (await fixture.statement(period)).ok as unknown as { items: { fee?: string }[] }
    for (const line of statement.items) expect(line).not.toHaveProperty('fee')
  })

  test('after the credit is owed by the wallet as it was credited, and earns no fee', async () => {
    const wallet = newWallet()
    const id = await paid('QRIS', wallet)
    await fixture.settle('credit', id)
    await fixture.becomes(id, { state: 'credited' })
    await fixture.control(`payments/${id}/refund`, {})
    await fixture.becomes(id, { state: 'review', reason: 'refunded_after_credit' })
    const lost = (await fixture.reversals()).filter((row) => row.wallet === wallet)
    expect(lost).toMatchObject([{ lostMicro: 6_110_769n, madeGoodMicro: 0n }])
    expect(await booked(id)).toMatchObject({ 'clawback AUSD': 6_110_769n })
    expect(await booked(id)).not.toHaveProperty('fees_earned IDR')
    // The next top-up repays the loss with its value after its own fee.
    const next = await open(wallet)
    await pay(next, 'BCA_VIRTUAL_ACCOUNT')
    const repaying = { state: 'credited', feeMinor: 4_440n, recoveredMicro: 5_880_615n, onchainMicro: 0n }
    await fixture.becomes(next, repaying)
  })

  test('before the credit leaves the rest of the money with its part of the fee', async () => {
    const id = await open()
    await fixture.control('faults', { webhooks: { drop: 1 } })
    await pay(id, 'QRIS')
    const refund = await fixture.control(`payments/${id}/refund`, { amount: 50_000 })
    await fixture.control(`refunds/${refund.id}/succeed`).catch(() => {})
    await fixture.control('faults', {})
    await fixture.recheck(120_000)
    const row = await fixture.becomes(id, { state: 'paid', reason: 'refunded_in_part' })
    expect(row).toMatchObject({ feeMinor: 700n, onchainMicro: 3_055_384n })
    expect(await booked(id)).toMatchObject({ 'fees_earned IDR': -350n, 'promises AUSD': -3_055_384n })
  })
})

describe('a top-up with fees that an operator decides', () => {
  // guard: a top-up that an operator credits pays its fee
  test('pays the fee of the amount that was paid', async () => {
    const id = await open()
    await pay(id, 'QRIS', { amount: 80_000 })
    await fixture.becomes(id, { state: 'review', reason: 'amount_differs', feeMinor: 0n })
    expect(await booked(id)).toEqual({ 'provider_id IDR': 80_000n, 'suspense IDR': -80_000n })
    // Rp 80,000 less Rp 560.
    expect((await fixture.resolve(id, 'credit')).ok!.done).toContain('4.888615 AUSD')
    const row = await fixture.becomes(id, { state: 'paid', fiatMinor: 80_000n })
    expect(row).toMatchObject({ feeMinor: 560n, ausdMicro: 4_888_615n, promisedMicro: 6_153_846n })
    expect(await booked(id)).toMatchObject({ 'fees_earned IDR': -560n, 'exchange IDR': -79_440n })
  })

  test('pays its fee once if its credit is ordered again', async () => {
    const id = await paid('QRIS')
    await fixture.settle('credit', id, true)
    await fixture.becomes(id, { state: 'review', reason: 'credit_failed' })
    expect((await fixture.resolve(id, 'credit')).ok!.done).toContain('6.110769 AUSD')
    const row = await fixture.becomes(id, { state: 'paid' })
    expect(row).toMatchObject({ feeMinor: 700n, ausdMicro: 6_110_769n, promisedMicro: 6_153_846n })
  })

  // guard: late money is priced again only at a worse rate
  test.each([
    ['with a fee', fees, 5_841_176n],
    ['without a fee', [fees[0]], 5_882_352n],
  ])(
    '%s keeps its value of late money, although the rate is better when its credit is ordered again',
    async (_, named, ausdMicro) => {
      // The sandbox's clock, by which money is late, does not follow the fixture's.
      fixture.time.aheadMs = 0
      const wallet = newWallet()
      const id = (await fixture.topup({ ...asked(wallet), quoteId: quoteWithFees(named) })).ok!.paymentId
      await fixture.cancel({ wallet, id, kind: 'topup' })
      fixture.present.set('USD/IDR', '17000')
      await pay(id, 'QRIS')
      const late = { state: 'paid', lateRateMinorPerUsd: 17_000n, ausdMicro, onchainMicro: ausdMicro }
      await fixture.becomes(id, late)
      fixture.present.set('USD/IDR', '16500')
      for (const refId of [id, `${id}.1`]) {
        await fixture.settle('credit', refId, true)
        await fixture.becomes(id, { state: 'review', reason: 'credit_failed' })
        expect((await fixture.resolve(id, 'credit')).ok!.done).toContain(moneyText(ausdMicro, 'AUSD'))
        await fixture.becomes(id, late)
      }
    },
  )

  test('gets all of its money back if it is refunded, without a fee', async () => {
    const id = await open()
    await pay(id, 'QRIS', { amount: 80_000 })
    await fixture.becomes(id, { state: 'review' })
    await fixture.resolve(id, 'refund')
    await fixture.recheck()
    expect(await fixture.orderedRefunds(id)).toMatchObject([{ minor: 80_000n }])
  })

  test('names no fee once a credit that failed was refunded', async () => {
    const wallet = newWallet()
    const id = await paid('QRIS', wallet)
    await fixture.settle('credit', id, true)
    await fixture.becomes(id, { state: 'review', reason: 'credit_failed' })
    await fixture.resolve(id, 'refund')
    await fixture.recheck()
    const [refund] = await fixture.orderedRefunds(id)
    await fixture.control(`refunds/${refund!.refundId}/succeed`)
    await fixture.becomes(id, { state: 'refunded' })
    expect(await booked(id)).toEqual({})
    expect((await fixture.item({ wallet, id })).ok!.item).not.toHaveProperty('fee')
  })
})

test('a second payment of a top-up pays no fee, because it is not credited', async () => {
  const request = asked()
  await fixture.control('faults', { api: { errorAfterAccept: 1 } })
  await fixture.topup(request)
  await fixture.control('faults', {})
  const id = (await fixture.topup(request)).ok!.paymentId
  const sessions = (await fixture.control('book')).sessions! as { reference_id: string; payment_session_id: string }[]
  for (const { reference_id, payment_session_id } of sessions)
    if (reference_id === id) await fixture.control(`sessions/${payment_session_id}/pay`, { channel_code: 'QRIS' })
  await fixture.becomes(id, { overpaidMinor: 100_000n })
  expect(await fixture.row(id)).toMatchObject({ feeMinor: 700n })
  expect(await booked(id)).toMatchObject({ 'fees_earned IDR': -700n, 'suspense IDR': -100_000n })
})

// guard: a settlement pays no fee
test('a settlement pays no fee, whatever its quote says and by whatever channel it is paid', async () => {
  const id = (await fixture.settlement({ wallet: newWallet(), quoteId: quoteWithFees() })).ok!.paymentId
  expect(await fixture.row(id)).toMatchObject({ topupFees: null })
  await pay(id, 'QRIS')
  const row = await fixture.becomes(id, { state: 'paid' })
  expect(row).toMatchObject({ feeMinor: 0n, ausdMicro: 3_000_000n, onchainMicro: 3_000_000n, fiatMinor: 48_750n })
})
