import { afterAll, describe, expect, test } from 'bun:test'
import { newWallet, openFixture, waitUntil } from '../test-support'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())

const webhooks = (fault: object) => fixture.control('faults', { webhooks: fault })
const refund = (id: string, body: object = {}) => fixture.control(`payments/${id}/refund`, body)

/** Returns the amount that each revocation order leaves; undefined if it leaves nothing. */
const revocations = async (id: string) =>
  (await fixture.orders(id)).flatMap(({ subject, payload }) =>
    subject === 'relay.revoke' ? [(payload as { left?: string }).left] : [],
  )

async function paid(channel_code: string, wallet = newWallet()): Promise<string> {
  const quoteId = fixture.quote()
  const { ok } = await fixture.topup({ wallet, amount: '50000', method: 'qr', quoteId })
  const id = ok!.paymentId
  await fixture.control(`sessions/${id}/pay`, { channel_code, force: true })
  return id
}
async function onChain(channel_code: string): Promise<string> {
  const id = await paid(channel_code)
  await fixture.becomes(id, { state: 'paid' })
  await fixture.settle('credit', id)
  return id
}

describe('a refund', () => {
  test('during the hold revokes the top-up once', async () => {
    const id = await onChain('CARDS')
    await webhooks({ times: 3, newIds: true })
    await refund(id)
    await fixture.becomes(id, { state: 'revoking', refundedMinor: 50_000n })
    await fixture.settle('revoke', id)
    await fixture.becomes(id, { state: 'revoked', reason: 'refunded_during_hold' })
    expect((await fixture.subjects(id)).filter((subject) => subject === 'relay.revoke').length).toBe(1)
    await webhooks({ times: 1, newIds: false })
  })

  test('of a part during the hold revokes that part, and the rest stays on hold under its ref', async () => {
    const id = await onChain('CARDS')
    const { creditedAt } = (await fixture.row(id))!
    await refund(id, { amount: 20_000 })
    await fixture.becomes(id, {
      state: 'revoking',
      onchainMicro: 3_076_923n,
      leftMicro: 1_846_153n,
    })
    expect(await revocations(id)).toEqual(['1846153'])
    await fixture.settle('revoke', `${id}:1846153`)
    const row = await fixture.becomes(id, {
      state: 'held',
      reason: 'refunded_in_part',
      refSequence: 0,
    })
    expect(row).toMatchObject({ onchainMicro: 1_846_153n, refundAppliedMinor: 20_000n, creditedAt })
    // A repeated report changes nothing.
    await fixture.settle('revoke', `${id}:1846153`)
    expect(await fixture.row(id)).toMatchObject({ state: 'held', onchainMicro: 1_846_153n })
    await refund(id, { amount: 30_000 })
    await fixture.becomes(id, { state: 'revoking', leftMicro: 0n })
    await fixture.settle('revoke', id)
    await fixture.becomes(id, { state: 'revoked', onchainMicro: 0n })
    expect(await revocations(id)).toEqual(['1846153', undefined])
    expect((await fixture.subjects(id)).filter((one) => one === 'relay.credit')).toHaveLength(1)
  })

  test('of a further part is revoked as soon as the first revocation is final', async () => {
    const id = await onChain('CARDS')
    await refund(id, { amount: 20_000 })
    await fixture.becomes(id, { state: 'revoking', leftMicro: 1_846_153n })
    await refund(id, { amount: 10_000 })
    await fixture.becomes(id, { refundedMinor: 30_000n })
    expect(await revocations(id)).toEqual(['1846153'])
    await fixture.settle('revoke', `${id}:1846153`)
    await fixture.becomes(id, {
      state: 'revoking',
      onchainMicro: 1_846_153n,
      leftMicro: 1_230_769n,
    })
    expect(await revocations(id)).toEqual(['1846153', '1230769'])
    await fixture.settle('revoke', `${id}:1230769`)
    await fixture.becomes(id, {
      state: 'held',
      onchainMicro: 1_230_769n,
      refundAppliedMinor: 30_000n,
    })
  })

  // guard: a repeated report of a revocation is not taken for that of a further one
  test('of a further part that fails during its revocation is not ended by a repeated report of the first revocation', async () => {
    const id = await onChain('CARDS')
    await refund(id, { amount: 20_000 })
    await fixture.becomes(id, { state: 'revoking', leftMicro: 1_846_153n })
    await fixture.settle('revoke', `${id}:1846153`)
    const further = await refund(id, { amount: 10_000 })
    await fixture.becomes(id, { state: 'revoking', leftMicro: 1_230_769n })
    await fixture.control(`refunds/${further.id}/fail`)
    await fixture.list()
    await fixture.becomes(id, { refundedMinor: 20_000n })
    // The first revocation left the amount that is ours again.
    await fixture.settle('revoke', `${id}:1846153`)
    expect(await fixture.row(id)).toMatchObject({ state: 'revoking', leftMicro: 1_230_769n })
    await fixture.settle('revoke', `${id}:1230769`)
    await fixture.becomes(id, { state: 'revoking', reason: 'refund_undone', leftMicro: 0n })
    await fixture.settle('revoke', id)
    await fixture.becomes(id, { state: 'paid', refSequence: 1, onchainMicro: 1_846_153n })
  })

  test('of a part of a settlement leaves the rest repaid, on hold', async () => {
    const wallet = newWallet()
    fixture.chain.drawn = '3000000'
    const { ok } = await fixture.settlement({ wallet, quoteId: fixture.quote() })
    const id = ok!.paymentId
    await fixture.control(`sessions/${id}/pay`, { channel_code: 'CARDS', force: true })
    await fixture.becomes(id, { state: 'paid' })
    await fixture.settle('repay', id)
    const { fiatMinor } = (await fixture.row(id))!
    await refund(id, { amount: Number(fiatMinor / 2n) })
    const { leftMicro } = await fixture.becomes(id, { state: 'revoking' })
    await fixture.settle('revoke', `${id}:${leftMicro}`)
    await fixture.becomes(id, { state: 'repaid', onchainMicro: leftMicro, holdEndedAt: null })
  })

  // guard: an outcome counts only for the current ref of a payment
  test('of a part that an earlier relayer version revokes as a whole is applied again', async () => {
    const id = await onChain('CARDS')
    await refund(id, { amount: 20_000 })
    await fixture.becomes(id, { state: 'revoking', leftMicro: 1_846_153n })
    await fixture.settle('revoke', id)
    await fixture.becomes(id, { state: 'paid', reason: 'refunded_in_part', refSequence: 1 })
    // A repeated report about the revoked ref does not count for the new ref.
    await fixture.settle('credit', id)
    await fixture.becomes(id, { state: 'paid', creditedAt: null })
    await fixture.settle('credit', `${id}.1`)
    await fixture.becomes(id, { state: 'held', onchainMicro: 1_846_153n })
  })

  test('too late for a revocation goes to review', async () => {
    const id = await onChain('CARDS')
    await refund(id)
    await fixture.becomes(id, { state: 'revoking' })
    await fixture.settle('revoke', id, true)
    await fixture.becomes(id, { state: 'review', reason: 'revoke_failed' })
  })

  test('after the credit goes to review', async () => {
    const id = await onChain('QRIS')
    await refund(id)
    await fixture.becomes(id, {
      state: 'review',
      reason: 'refunded_after_credit',
      refundedMinor: 50_000n,
    })
    const raised = ['payment reversed after hold, wallet frozen', 'payment needs manual review']
    expect(fixture.alarmsOf(id).toSorted()).toEqual(raised.toSorted())
  })

  test.each([
    ['CARDS', 'revoking'],
    ['QRIS', 'review'],
  ] as const)('during the credit by %s is handled after the credit', async (channel, end) => {
    const id = await paid(channel)
    await fixture.becomes(id, { state: 'paid' })
    await refund(id)
    await fixture.becomes(id, { state: 'paid', refundedMinor: 50_000n })
    await fixture.settle('credit', id)
    await fixture.becomes(id, { state: end })
  })

  test('reported before the payment leaves nothing to credit', async () => {
    await webhooks({ only: ['refund.succeeded'] })
    const id = await paid('CARDS')
    await refund(id)
    await fixture.becomes(id, { state: 'refunded', reason: 'refunded_before_credit' })
    expect(await fixture.subjects(id)).toEqual([])
    await webhooks({ only: [] })
  })

  test('during the hold without a webhook is found by a recheck', async () => {
    const id = await onChain('CARDS')
    await webhooks({ drop: 1 })
    await refund(id)
    await webhooks({ drop: 0 })
    await fixture.recheck()
    expect(await fixture.row(id)).toMatchObject({ state: 'revoking', refundedMinor: 50_000n })
  })

  test.each([
    ['its id', 0],
    ['no id', 1],
  ])('that bounced before the list was read is undone by its row with %s', async (_, nameless) => {
    const id = await onChain('QRIS')
    await fixture.control('faults', { api: { namelessRefunds: nameless } })
    const { id: refundId } = await refund(id)
    await fixture.becomes(id, { state: 'review', reason: 'refunded_after_credit' })
    await webhooks({ drop: 1 })
    await fixture.control(`refunds/${refundId}/fail`)
    await fixture.list()
    await fixture.becomes(id, { state: 'credited', reason: 'refund_undone', refundedMinor: 0n })
    await fixture.control('faults', { api: {}, webhooks: { drop: 0 } })
  })

  test('that came back without a webhook is found by asking for it once more', async () => {
    const id = await onChain('QRIS')
    const made = await refund(id)
    await fixture.becomes(id, { state: 'review', refundedMinor: 50_000n })
    await webhooks({ drop: 1 })
    await fixture.control(`refunds/${made.id}/fail`)
    await waitUntil('the refund being undone', async () => {
      await fixture.recheck(700_000)
      return (await fixture.report(made.id))?.status === 'dead'
    })
    await fixture.becomes(id, { state: 'credited', refundedMinor: 0n })
    await webhooks({ drop: 0 })
  })

  test('that failed changes nothing', async () => {
    const id = await onChain('CARDS')
    await refund(id, { failure_code: 'REFUND_FAILED' })
    const [row] = [await fixture.row(id)]
    expect(row).toMatchObject({ state: 'held', refundedMinor: 0n })
  })
})
