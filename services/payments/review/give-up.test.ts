import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { booksOf } from '../ledger/test-support'
import { openFixture } from '../test-support'
import { faultOf } from './give-up'
import { reviewsOf } from './test-support'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.control('faults', {}))
const { booked } = booksOf(fixture)
const { differing, atProvider, succeed } = reviewsOf(fixture)
const refusedLate = 'refund refused, earlier request not found'

/** Returns a payment whose refund was requested without a response, is not listed, and is refused when it is requested again. */
async function refusedAgain(): Promise<{ id: string; reference: string }> {
  const id = await differing()
  await fixture.resolve(id, 'refund')
  await fixture.control('faults', { api: { acceptLater: 1, acceptLaterMs: 600_000 } })
  await fixture.recheck()
  const { provider } = fixture.context
  const refused = { meaning: 'state_wrong', code: 'INELIGIBLE_TRANSACTION', status: 400 } as const
  Object.assign(fixture.context, { provider: { ...provider, createRefund: async () => ({ refused }) } })
  await fixture.control('faults', { webhooks: { drop: 1 }, api: {} })
  await fixture.recheck(700_000)
  Object.assign(fixture.context, { provider })
  expect(fixture.alarmsOf(id)).toContain(refusedLate)
  await fixture.becomes(id, { state: 'refunding' })
  return { id, reference: `ordered-${id}_1` }
}

/** Has the provider make the refund that nobody could find. */
async function makeAfterAll(id: string, reference: string): Promise<void> {
  const { paymentRequestId } = (await fixture.row(id))!
  const fiat = { currency: 'IDR', minor: 40_000n } as const
  const asked = { account: 'ID', paymentRequestId: paymentRequestId!, reference, fiat, isSecond: false } as const
  await fixture.provider.createRefund(asked)
}

describe('a refund that the provider did not make, and refuses', () => {
  test('is given up by an operator, whose payment is decided about again', async () => {
    const { id, reference } = await refusedAgain()
    expect((await fixture.giveUp(id, reference)).ok).toMatchObject({
      done: `${reference} is given up, and ${id} needs a decision again`,
    })
    await fixture.becomes(id, { state: 'review', reason: 'amount_differs' })
    expect(await fixture.orderedRefunds(id)).toMatchObject([{ state: 'failed', failureCode: 'GIVEN_UP' }])
    expect((await fixture.giveUp(id, reference)).ok).toMatchObject({ done: `${reference} was given up before` })
    expect((await fixture.resolve(id, 'refund')).ok!.done).toContain(`ordered-${id}_2`)
    await fixture.recheck()
    await succeed(id)
    await fixture.list()
    await fixture.becomes(id, { state: 'refunded' })
    expect(await booked(id)).toEqual({})
  })

  test('is not given up once a look-up finds it', async () => {
    const { id, reference } = await refusedAgain()
    await makeAfterAll(id, reference)
    expect((await fixture.giveUp(id, reference)).ok).toMatchObject({
      refused: `${reference} was made: its payment follows it now`,
    })
    expect(await fixture.orderedRefunds(id)).toMatchObject([{ state: 'open', refundId: expect.any(String) }])
    await succeed(id)
    await fixture.list()
    await fixture.becomes(id, { state: 'refunded' })
    expect(await atProvider(id)).toHaveLength(1)
  })

  /** Has the provider make the refund after all, and fail it. Returns its id. */
  async function failMade(id: string, reference: string): Promise<string> {
    await makeAfterAll(id, reference)
    const [made] = await atProvider(id)
    await fixture.control(`refunds/${made!.id}/fail`)
    return made!.id
  }
  async function tellMade(refundId: string) {
    await fixture.control(`refunds/${refundId}/tell`, { status: 'SUCCEEDED', listed: 'SUCCESS' })
    await fixture.list()
  }
  /** Credits the payment in review, up to the end of its hold. */
  async function creditInstead(id: string) {
    await fixture.resolve(id, 'credit')
    await fixture.becomes(id, { state: 'paid' })
    await fixture.settle('credit', id)
    await fixture.becomes(id, { state: 'held' })
    fixture.chain.hold = { state: 'released', until: Math.floor(fixture.context.clock() / 1_000) - 1 }
    await fixture.recheck(700_000)
    await fixture.becomes(id, { state: 'credited' })
  }
  async function freezes(id: string) {
    const { wallet } = await fixture.becomes(id, {
      state: 'review',
      reason: 'refunded_after_credit',
      writtenOffMicro: 0n,
    })
    expect((await fixture.walletRow(wallet))!.frozen).toBe(true)
  }
  /** Has the refund that was ordered again succeed, and then the one that had failed. */
  async function isOurLoss(id: string, first: string) {
    await succeed(id)
    await fixture.list()
    const { wallet } = await fixture.becomes(id, { state: 'refunded', refundedMinor: 40_000n })
    await tellMade(first)
    await fixture.becomes(id, { refundedMinor: 80_000n })
    expect((await fixture.walletRow(wallet))?.frozen ?? false).toBe(false)
  }

  // guard: a refund that was given up counts like one that we did not order
  test('freezes the wallet if it was made after all, and its payment was credited since', async () => {
    const { id, reference } = await refusedAgain()
    await fixture.giveUp(id, reference)
    await creditInstead(id)
    await makeAfterAll(id, reference)
    await succeed(id)
    await fixture.list()
    await freezes(id)
  })

  test('freezes the wallet, too, if it was read as failed while another order was open, which failed as well', async () => {
    const { id, reference } = await refusedAgain()
    await fixture.giveUp(id, reference)
    await fixture.resolve(id, 'refund')
    const first = await failMade(id, reference)
    await fixture.recheck()
    expect(await fixture.report(first)).toMatchObject({ status: 'dead', origin: 'ordered' })
    const second = (await atProvider(id)).find((one) => one.id !== first)!
    await fixture.control(`refunds/${second.id}/fail`)
    await fixture.recheck()
    await fixture.becomes(id, { state: 'review' })
    await creditInstead(id)
    await tellMade(first)
    await freezes(id)
  })

  test('is a loss of ours if it was made after all, and its payment was refunded again', async () => {
    const { id, reference } = await refusedAgain()
    await fixture.giveUp(id, reference)
    await fixture.resolve(id, 'refund')
    const first = await failMade(id, reference)
    await fixture.recheck()
    await isOurLoss(id, first)
  })

  test('is a loss of ours if it was made after all, also if it had failed before its payment was refunded again', async () => {
    const { id, reference } = await refusedAgain()
    await fixture.giveUp(id, reference)
    const first = await failMade(id, reference)
    await fixture.list()
    expect(await fixture.report(first)).toMatchObject({ status: 'dead', origin: 'refund' })
    expect((await fixture.resolve(id, 'refund')).ok).toHaveProperty('done')
    await fixture.recheck()
    await isOurLoss(id, first)
  })
})

test('a refund that the provider refuses for our account is given up by an operator, and is not requested again', async () => {
  const id = await differing()
  await fixture.resolve(id, 'refund')
  const { provider } = fixture.context
  const refused = { meaning: 'account_misconfigured', code: 'REQUEST_FORBIDDEN_ERROR', status: 403 } as const
  Object.assign(fixture.context, { provider: { ...provider, createRefund: async () => ({ refused }) } })
  await fixture.recheck()
  Object.assign(fixture.context, { provider })
  expect(await fixture.orderedRefunds(id)).toMatchObject([{ state: 'open', requests: 0 }])
  expect((await fixture.giveUp(id, `ordered-${id}_1`)).ok).toHaveProperty('done')
  await fixture.becomes(id, { state: 'review', reason: 'amount_differs' })
  await fixture.recheck(700_000)
  expect(await atProvider(id)).toEqual([])
  expect((await fixture.resolve(id, 'accept')).ok).toHaveProperty('done')
})

describe('a refund is not given up', () => {
  const open = { state: 'open', requests: 1, requestedAt: new Date(0), refundId: null } as const
  test.each([
    // guard: a refund that the provider knows is not given up
    ['that the provider knows', { refundId: 'rfd-1' }, 'was made as rfd-1: wait for its outcome'],
    // guard: a refund is not given up before a look-up would show it
    [
      'that was requested a moment ago',
      { requestedAt: new Date(940_001) },
      'was requested a moment ago: wait a minute',
    ],
    ['that has failed', { state: 'failed' }, 'has failed already'],
    ['that has succeeded', { state: 'succeeded' }, 'has succeeded'],
  ] as const)('%s', (_, more, fault) => {
    expect(faultOf({ ...open, ...more }, 1_000_000)).toBe(fault)
  })

  test('of another payment', async () => {
    const id = await differing()
    expect((await fixture.giveUp(id, 'ordered-pay_other_1')).ok).toMatchObject({
      refused: `${id} has no refund ordered-pay_other_1`,
    })
  })

  // guard: a refund that is requested again, or was made, is not given up
  test('that is found while an operator gives it up', async () => {
    const { id, reference } = await refusedAgain()
    const { provider } = fixture.context
    const findCharge: typeof provider.findCharge = async (account, paymentId) => {
      await fixture.context.database.run((db) =>
        db.execute(`update payments.refund_orders set refund_id = 'rfd-found' where reference = '${reference}'`),
      )
      return provider.findCharge(account, paymentId)
    }
    Object.assign(fixture.context, { provider: { ...provider, findCharge } })
    expect((await fixture.giveUp(id, reference)).ok).toMatchObject({
      refused: `${reference} has just changed: look again`,
    })
    Object.assign(fixture.context, { provider })
    expect(await fixture.orderedRefunds(id)).toMatchObject([{ state: 'open' }])
  })
})
