import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { moneyText } from '#shared/money/text'
import { actionsOn, kinds } from '../losses/test-support'
import { openFixture } from '../test-support'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())
beforeEach(fixture.withoutWebhooks)

const { opened, given, ending, isFrozen } = actionsOn(fixture)
let transactions = 0
const newTransaction = () => `txn_deducted-${++transactions}`

describe.each(kinds)('a %s that an operator records as taken back', (kind) => {
  test('is lost, freezes its wallet, and is lost once however often that is repeated', async () => {
    const id = await given('QRIS', kind)
    const { fiatMinor } = (await fixture.row(id))!
    const transaction = newTransaction()
    for (let times = 0; times < 2; times++)
      expect(await fixture.takeBack(id, transaction, String(fiatMinor))).toMatchObject({
        ok: { done: `${moneyText(fiatMinor, 'IDR')} of ${id} were taken back by ${transaction}` },
      })
    await fixture.becomes(id, { state: 'review', reason: 'refunded_after_credit', refundedMinor: fiatMinor })
    expect(await isFrozen(id)).toBe(true)
  })

  test('is revoked during its hold', async () => {
    const id = await ending(kind)
    await fixture.takeBack(id, newTransaction(), '20000')
    await fixture.becomes(id, { state: 'revoking', refundedMinor: 20_000n })
  })

  test('frees its wallet once the record is taken back', async () => {
    const id = await given('QRIS', kind)
    const transaction = newTransaction()
    await fixture.takeBack(id, transaction, '20000')
    expect(await isFrozen(id)).toBe(true)
    await fixture.takeBack(id, transaction, '0')
    await fixture.becomes(id, { refundedMinor: 0n })
    expect(await isFrozen(id)).toBe(false)
  })
})

test('a command about a taken-back payment counts the part, the whole if the record is taken back, and the loss that is cleared', async () => {
  const id = await given('QRIS')
  const { wallet, fiatMinor, ausdMicro } = (await fixture.row(id))!
  const worthOf = async (minor: string) => {
    const counted = await fixture.worthOf('payments.payment.taken-back', {
      paymentId: id,
      transactionId: 'txn_1',
      minor,
    })
    return [counted?.micro, counted?.to]
  }
  expect(await worthOf('20000')).toEqual([(ausdMicro * 20_000n + fiatMinor - 1n) / fiatMinor, wallet])
  expect(await worthOf('0')).toEqual([ausdMicro, wallet])
  expect(await fixture.worthOf('payments.payment.taken-back', { paymentId: 'pay_none', minor: '0' })).toBeUndefined()
  await fixture.takeBack(id, newTransaction(), String(fiatMinor))
  await fixture.becomes(id, { state: 'review', refundedMinor: fiatMinor })
  const { revision } = await fixture.freezeOf(wallet)
  const cleared = await fixture.worthOf('payments.wallet.clear', { wallet, revision })
  expect(cleared).toEqual({ micro: ausdMicro, to: wallet, seen: revision })
  const back = await fixture.worthOf('payments.loss.given-back', { paymentId: id, micro: '7' })
  expect(back).toEqual({ micro: 7n, to: wallet, seen: '' })
})

test('a dispute that is lost as a deduction is counted once, although webhook and operator report it', async () => {
  const id = await given('QRIS')
  const { fiatMinor } = (await fixture.row(id))!
  await fixture.takeBack(id, newTransaction(), String(fiatMinor))
  await fixture.control('faults', { webhooks: { only: ['dispute.lost'] } })
  const dispute = await fixture.control(`payments/${id}/dispute`)
  await fixture.control(`disputes/${dispute.id}`, { status: 'LOST' })
  await fixture.becomes(id, { state: 'review', refundedMinor: fiatMinor })
})

test.each([
  ['more than was paid', '50001', /more than was paid/],
  ['a record that there is not', '0', /is not recorded/],
])('taking back %s is refused', async (_, minor, refused) => {
  const id = await given('QRIS')
  const { fiatMinor } = (await fixture.row(id))!
  const asked = minor === '0' ? minor : String(fiatMinor + 1n)
  expect((await fixture.takeBack(id, newTransaction(), asked)).ok!.refused).toMatch(refused)
  await fixture.becomes(id, { state: 'credited', refundedMinor: 0n })
})

test('taking back is refused without money', async () => {
  const unpaid = await opened()
  expect((await fixture.takeBack(unpaid, newTransaction(), '1')).ok!.refused).toMatch(/no money/)
  expect((await fixture.takeBack('pay_none', newTransaction(), '1')).ok!.refused).toMatch(/there is no payment/)
})

describe('a transaction that took money of several payments', () => {
  test('freezes the wallet of each, by its own share', async () => {
    const ids = [await given('QRIS'), await given('QRIS'), await given('QRIS')]
    const transaction = newTransaction()
    for (const [at, id] of ids.entries()) {
      const share = String(20_000 + at)
      for (let times = 0; times < 2; times++)
        expect((await fixture.takeBack(id, transaction, share)).ok).toHaveProperty('done')
    }
    for (const [at, id] of ids.entries()) {
      await fixture.becomes(id, { state: 'review', refundedMinor: BigInt(20_000 + at) })
      expect(await isFrozen(id)).toBe(true)
    }
  })

  test('frees the wallet of one of them once its share is taken back', async () => {
    const [one, other] = [await given('QRIS'), await given('QRIS')]
    const transaction = newTransaction()
    for (const id of [one, other]) await fixture.takeBack(id, transaction, '20000')
    await fixture.takeBack(other, transaction, '0')
    expect([await isFrozen(one), await isFrozen(other)]).toEqual([true, false])
    await fixture.takeBack(one, transaction, '0')
    expect(await isFrozen(one)).toBe(false)
  })
})

test('a dispute that took all of an overpaid settlement is recorded with all of it, and with no more', async () => {
  const id = await opened('settlement')
  const { fiatMinor } = (await fixture.row(id))!
  const paidMinor = fiatMinor + 700n
  await fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS', force: true, amount: Number(paidMinor) })
  await fixture.list()
  await fixture.becomes(id, { state: 'paid', paidMinor: fiatMinor, overpaidMinor: 700n })
  await fixture.settle('repay', id)
  const transaction = newTransaction()
  const { ausdMicro } = (await fixture.row(id))!
  const whole = await fixture.worthOf('payments.payment.taken-back', {
    paymentId: id,
    transactionId: 'txn_1',
    minor: '0',
  })
  expect(whole?.micro).toBe((ausdMicro * paidMinor + fiatMinor - 1n) / fiatMinor)
  expect((await fixture.takeBack(id, transaction, String(paidMinor + 1n))).ok!.refused).toMatch(/more than was paid/)
  expect((await fixture.takeBack(id, transaction, String(paidMinor))).ok).toHaveProperty('done')
  await fixture.becomes(id, { refundedMinor: fiatMinor, overpaidRefundedMinor: 700n })
  expect(await isFrozen(id)).toBe(true)
})
