import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { keptDelivery } from '#shared/provider/delivery'
import { receiveRows } from '#shared/provider/listing'
import { booksOf } from '../ledger/test-support'
import { paymentIdIn } from '../payment'
import { newWallet, openFixture, waitUntil } from '../test-support'
import { actionsOn, kinds } from './test-support'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())
const { booked } = booksOf(fixture)
beforeEach(fixture.withoutWebhooks)

const { opened, given, holdFor, refund, dispute, isFrozen } = actionsOn(fixture)
const pay = (session: string, channel = 'QRIS') =>
  fixture.control(`sessions/${session}/pay`, { channel_code: channel, force: true })
/** Pays a further top-up through a channel that is never held. */
async function paidAgain(wallet: `0x${string}`): Promise<void> {
  const asked = { wallet, quoteId: fixture.quote(), amount: '50000', method: 'qr' } as const
  const id = (await fixture.topup(asked)).ok!.paymentId
  await pay(id)
  await fixture.list()
  await fixture.becomes(id, { state: 'credited' })
}
/** Returns the loss of a payment (10⁻⁶ AUSD). */
const missingOf = async (id: string) =>
  (await fixture.reversals())
    .filter(({ paymentId }) => paymentId === id)
    .reduce((sum, { lostMicro, madeGoodMicro }) => sum + lostMicro - madeGoodMicro, 0n)

describe('a refund and a dispute of the same charge, of which the provider pays both,', () => {
  test.each(kinds)('freeze the wallet of a %s that was revoked, until the dispute is won', async (kind) => {
    const id = await given('CARDS', kind)
    holdFor(600)
    await refund(id)
    await fixture.list()
    await fixture.becomes(id, { state: 'revoking' })
    await fixture.settle('revoke', id)
    const { fiatMinor } = await fixture.becomes(id, { state: 'revoked' })
    const made = await dispute(id)
    await fixture.list()
    await fixture.becomes(id, { refundedMinor: 2n * fiatMinor })
    expect(await isFrozen(id)).toBe(true)
    await fixture.control(`chargebacks/${made}`, { status: 'REVERSED' })
    await fixture.list()
    await fixture.becomes(id, { refundedMinor: fiatMinor })
    expect(await isFrozen(id)).toBe(false)
  })

  test.each(kinds)(
    'free the wallet of a %s that was revoked once the dispute is won, while the refund is open',
    async (kind) => {
      const id = await given('CARDS', kind)
      holdFor(600)
      const made = await dispute(id)
      await fixture.list()
      await fixture.becomes(id, { state: 'revoking' })
      await fixture.settle('revoke', id)
      await fixture.becomes(id, { state: 'revoked' })
      await refund(id, { status: 'PENDING' })
      await fixture.list()
      expect(await isFrozen(id)).toBe(true)
      await fixture.control(`chargebacks/${made}`, { status: 'REVERSED' })
      await fixture.list()
      await fixture.becomes(id, { state: 'review', reason: 'refund_undone', lostHold: null })
      expect(await isFrozen(id)).toBe(false)
    },
  )

  test.each([
    ['after its credit', [refund, dispute]],
    ['in two disputes', [dispute, dispute]],
  ])('%s, freeze the wallet until top-ups have repaid both', async (_, ways) => {
    const id = await given('QRIS')
    const { wallet } = (await fixture.row(id))!
    for (const way of ways) await way(id)
    await fixture.list()
    await fixture.becomes(id, { state: 'review', refundedMinor: 100_000n })
    expect(await missingOf(id)).toBe(6_153_846n)
    await paidAgain(wallet)
    expect(await isFrozen(id)).toBe(true)
    await paidAgain(wallet)
    expect(await isFrozen(id)).toBe(false)
  })

  // The list has no fixed order among rows of one millisecond.
  test.each([
    ['first', 1],
    ['last', -1],
  ])('freeze the wallet when they came before the credit, with the charge %s in the list', async (_, by) => {
    const id = await opened()
    await fixture.control(`sessions/${id}/pay`, { channel_code: 'CARDS', force: true })
    await refund(id)
    await dispute(id)
    const rows = await fixture.listing.list('ID', new Date(fixture.context.clock() - 600_000))
    const placeOf = ({ type }: { type: string }) => (type === 'payment' ? -by : by)
    await receiveRows(
      fixture.listing,
      'ID',
      rows.toSorted((a, b) => placeOf(a) - placeOf(b)),
    )
    await fixture.becomes(id, { state: 'refunded', refundedMinor: 100_000n })
    expect(await missingOf(id)).toBe(3_076_923n)
    expect(await isFrozen(id)).toBe(true)
  })

  /** Opens two checkouts of one promise, and returns the id of the promise and their ids. */
  async function openedTwice() {
    const quoteId = fixture.quote()
    const asked = { wallet: newWallet(), amount: '50000', method: 'qr', quoteId } as const
    await fixture.control('faults', { webhooks: { drop: 1 }, api: { errorAfterAccept: 1 } })
    await fixture.topup(asked)
    await fixture.control('faults', { webhooks: { drop: 1 }, api: {} })
    const id = (await fixture.topup(asked)).ok!.paymentId
    const { sessions } = (await fixture.control('book')) as unknown as {
      sessions: { reference_id: string; payment_session_id: string }[]
    }
    const own = sessions.filter(({ reference_id: reference }) => reference === id)
    return { id, checkouts: own.map(({ payment_session_id: session }) => session) }
  }

  /** Pays one promise twice, and returns the ids of the promise and of the second charge. */
  async function paidTwice() {
    const { id, checkouts } = await openedTwice()
    const paid: string[] = []
    for (const session of checkouts) paid.push((await pay(session)).payment_id)
    await fixture.list()
    const { providerPaymentId } = await fixture.becomes(id, { overpaidMinor: 50_000n })
    return { id, second: paid.find((one) => one !== providerPaymentId)! }
  }

  test.each(['payment', 'request'])('freeze the wallet when a row names the second %s', async (names) => {
    const { id, second } = await paidTwice()
    await refund(second)
    await fixture.list()
    await fixture.becomes(id, { overpaidRefundedMinor: 50_000n })
    expect(await isFrozen(id)).toBe(false)
    await dispute(second, { names })
    await fixture.list()
    await fixture.becomes(id, { refundedMinor: 0n, overpaidRefundedMinor: 100_000n })
    expect(await missingOf(id)).toBe(3_076_923n)
    expect(await isFrozen(id)).toBe(true)
  })

  test('are booked once if an operator has accepted the payment before the second one comes', async () => {
    const { id, checkouts } = await openedTwice()
    await pay(checkouts[0]!)
    await fixture.list()
    await fixture.settle('credit', id)
    await dispute((await fixture.row(id))!.providerPaymentId!)
    await fixture.list()
    await fixture.becomes(id, { state: 'review', reason: 'refunded_after_credit' })
    await fixture.resolve(id, 'accept')
    await fixture.becomes(id, { state: 'accepted' })
    const second = (await pay(checkouts[1]!)).payment_id
    await dispute(second, { amount: 20_000, names: 'payment' })
    await fixture.list()
    await fixture.becomes(id, { state: 'review', overpaidMinor: 50_000n, overpaidRefundedMinor: 20_000n })
    await booked(id)
  })

  // guard: a slow reading of the list does not move a refund or dispute to the first charge
  test('stay with the second charge although a slow reading of the row finds neither refund nor report', async () => {
    const { id, second } = await paidTwice()
    const made = await fixture.control(`payments/${second}/refund`, { amount: 20_000 })
    const rows = await fixture.listing.list('ID', new Date(fixture.context.clock() - 600_000))
    const row = rows.find(({ productId }) => productId === made.id)!
    const { provider } = fixture.context
    const findCharge: typeof provider.findCharge = async (...asked) => {
      Object.assign(fixture.context, { provider })
      await fixture.list()
      return provider.findCharge(...asked)
    }
    Object.assign(fixture.context, { provider: { ...provider, findRefund: async () => undefined, findCharge } })
    await fixture.listing.receive('ID', { ...row, paymentRequestId: null })
    Object.assign(fixture.context, { provider })
    await fixture.becomes(id, { refundedMinor: 0n, overpaidRefundedMinor: 20_000n })
  })

  test('freeze the wallet at once, also while the other charge is being refunded', async () => {
    const { id } = await paidTwice()
    const { providerPaymentId } = (await fixture.row(id))!
    await fixture.settle('credit', id)
    await fixture.becomes(id, { state: 'review', reason: 'paid_twice' })
    await fixture.resolve(id, 'refund')
    await dispute(providerPaymentId!, { names: 'payment' })
    await fixture.list()
    await fixture.becomes(id, { state: 'refunding', refundedMinor: 50_000n })
    expect(await missingOf(id)).toBe(3_076_923n)
    expect(await isFrozen(id)).toBe(true)
  })

  /** Opens a dispute of a charge that names only its payment. */
  const disputeUnnamed = async (charge: string): Promise<Made> =>
    await fixture.control(`payments/${charge}/dispute`, { names: 'none' })
  type Made = { id: string }
  const decide = (made: Made, status: 'WON' | 'LOST') => fixture.control(`disputes/${made.id}`, { status })
  async function tell(made: Made, status = 'ACTION_REQUIRED') {
    const body = JSON.stringify({ event: `dispute.${status.toLowerCase()}`, ...made, status })
    const at = new Date(fixture.context.clock()).toISOString()
    expect(await fixture.deliver('ID', keptDelivery(body), crypto.randomUUID(), at)).toBe('done')
  }

  /** Looks at what is due, a few in each round, until the condition holds. */
  const looked = (condition: () => Promise<boolean>) =>
    waitUntil('the look', async () => {
      await fixture.recheck(3_700_000)
      return condition()
    })

  test('put both payments in doubt while the dispute names neither, until it is won', async () => {
    const { id, second } = await paidTwice()
    await fixture.settle('credit', id)
    const made = await disputeUnnamed(second)
    for (let times = 0; times < 2; times++) await tell(made)
    await fixture.becomes(id, { refundedMinor: 0n, overpaidRefundedMinor: 0n, lostHold: 'frozen' })
    expect(await isFrozen(id)).toBe(true)
    expect((await fixture.resolve(id, 'refund')).ok!.refused).toContain('still open')
    expect(await fixture.anomalies()).toContainEqual(
      expect.objectContaining({ kind: 'charge_ambiguous', object: made.id, paymentId: id }),
    )
    expect(fixture.alarmsOf(id)).toContain('dispute of one of several charges')
    await decide(made, 'WON')
    await looked(async () => (await fixture.row(id))?.lostHold === null)
    await fixture.becomes(id, { refundedMinor: 0n, overpaidRefundedMinor: 0n, lostHold: null })
    expect(await isFrozen(id)).toBe(false)
  })

  test.each(['first', 'second'] as const)('count for the %s payment once an operator has named it', async (which) => {
    const { id, second } = await paidTwice()
    const first = (await fixture.row(id))!.providerPaymentId!
    const made = await disputeUnnamed(second)
    await decide(made, 'LOST')
    await tell(made, 'LOST')
    await fixture.becomes(id, { refundedMinor: 0n, overpaidRefundedMinor: 0n, lostHold: 'frozen' })
    const [named, other] = which === 'first' ? [first, second] : [second, first]
    const counted = {
      first: { refundedMinor: 50_000n, overpaidRefundedMinor: 0n },
      second: { refundedMinor: 0n, overpaidRefundedMinor: 50_000n },
    }[which]
    for (let times = 0; times < 2; times++) {
      expect((await fixture.nameCharge(made.id, named)).ok).toHaveProperty('done')
      await fixture.becomes(id, counted)
      await tell(made, 'LOST')
      await fixture.recheck(3_700_000)
    }
    await fixture.becomes(id, counted)
    expect(await isFrozen(id)).toBe(which === 'first')
    expect((await fixture.nameCharge(made.id, other)).ok!.refused).toContain(`is about ${named}`)
    expect((await fixture.nameCharge('dspt_none', second)).ok!.refused).toContain('cannot be read')
  })

  // guard: a dispute whose charge nobody has named counts for none of several
  test.each([
    ['open', false],
    ['lost', true],
  ])(
    'count once if the dispute, which names neither, was %s before the second payment was known',
    async (_, isLost) => {
      const { id, checkouts } = await openedTwice()
      await pay(checkouts[0]!)
      await fixture.list()
      await fixture.settle('credit', id)
      const second = (await pay(checkouts[1]!)).payment_id
      const made = await disputeUnnamed(second)
      const lose = () => fixture.control(`disputes/${made.id}`, { status: 'LOST', names: 'payment' })
      if (isLost) await lose()
      await tell(made, isLost ? 'LOST' : 'ACTION_REQUIRED')
      await fixture.becomes(id, { refundedMinor: isLost ? 50_000n : 0n })
      expect(await isFrozen(id)).toBe(true)
      await fixture.list()
      await looked(async () => (await fixture.anomalies()).some((one) => one.object === made.id))
      if (!isLost) await lose()
      await fixture.list()
      await fixture.becomes(id, { refundedMinor: 0n, overpaidRefundedMinor: 50_000n, lostHold: 'frozen' })
      expect((await fixture.nameCharge(made.id, second)).ok).toHaveProperty('done')
      await fixture.becomes(id, { refundedMinor: 0n, overpaidRefundedMinor: 50_000n, lostHold: null })
      expect([await missingOf(id), await isFrozen(id)]).toEqual([0n, false])
    },
  )

  // guard: a row that names only a dispute counts for the charge of the dispute
  test('count once if the row of the list names only the dispute, whose payment an operator names', async () => {
    const { id, second } = await paidTwice()
    const made = await disputeUnnamed(second)
    await fixture.control(`disputes/${made.id}`, { status: 'LOST', names: 'dispute' })
    await tell(made, 'LOST')
    await fixture.list()
    expect((await fixture.nameCharge(made.id, second)).ok).toHaveProperty('done')
    for (let times = 0; times < 2; times++) {
      await fixture.becomes(id, { refundedMinor: 0n, overpaidRefundedMinor: 50_000n, lostHold: null })
      await fixture.list()
    }
    expect([await missingOf(id), await isFrozen(id)]).toEqual([0n, false])
  })

  test('count for the second payment, to which only the row of the dispute leads', async () => {
    const { id, second } = await paidTwice()
    const { providerPaymentId } = (await fixture.row(id))!
    const made = await disputeUnnamed(second)
    await decide(made, 'LOST')
    await tell(made, 'LOST')
    await fixture.becomes(id, { refundedMinor: 0n, overpaidRefundedMinor: 0n, lostHold: 'frozen' })
    const { paymentRequestId } = (await fixture.context.provider.findCharge('ID', second))!.charge
    expect(second).not.toBe(providerPaymentId!)
    const since = new Date(fixture.context.clock() - 600_000)
    for (const row of await fixture.listing.list('ID', since))
      if (row.type === 'chargeback' && paymentIdIn(row.reference) === id)
        await fixture.listing.receive('ID', { ...row, productId: made.id, paymentRequestId })
    await fixture.becomes(id, { refundedMinor: 0n, overpaidRefundedMinor: 50_000n, lostHold: null })
    // The provider sends the webhook again.
    await tell(made, 'LOST')
    await fixture.becomes(id, { refundedMinor: 0n, overpaidRefundedMinor: 50_000n, lostHold: null })
  })

  const ways: readonly [what: string, open: (charge: string) => Promise<unknown>][] = [
    // guard: a refund of a payment that is not found yet does not count against another payment
    ['a refund', (charge) => fixture.control(`payments/${charge}/refund`, { version: 3 })],
    ['a chargeback', (charge) => fixture.control(`payments/${charge}/chargeback`, { names: 'payment' })],
    ['a dispute', (charge) => fixture.control(`payments/${charge}/dispute`, { names: 'payment' })],
  ]
  test.each(ways)(
    'count for the second payment, although the provider does not find it when %s names it',
    async (what, open) => {
      const { id, second } = await paidTwice()
      await fixture.control(`payments/${second}/tell`, { hidden: true })
      const made = (await open(second)) as Made
      const lost = { status: 'LOST', names: 'payment' }
      if (what === 'a dispute') await fixture.control(`disputes/${made.id}`, lost)
      const read = () => (what === 'a dispute' ? tell({ ...made, status: 'LOST' } as Made, 'LOST') : fixture.list())
      await read().catch(() => {})
      expect((await fixture.row(id))!.refundedMinor).toBe(0n)
      await fixture.control(`payments/${second}/tell`)
      await read()
      await fixture.list()
      await fixture.becomes(id, { refundedMinor: 0n, overpaidRefundedMinor: 50_000n, lostHold: null })
      expect(await isFrozen(id)).toBe(false)
    },
  )

  // guard: a dispute of a payment that is not found yet does not count against another payment
  test('count for the second payment, although its dispute is told before the provider finds it', async () => {
    const { id, checkouts } = await openedTwice()
    await pay(checkouts[0]!)
    await fixture.list()
    await fixture.settle('credit', id)
    const second = (await pay(checkouts[1]!)).payment_id
    await fixture.control(`payments/${second}/tell`, { hidden: true })
    const named = { names: 'payment', referenced: true }
    const { id: made } = (await fixture.control(`payments/${second}/dispute`, named)) as Made
    const lost = (await fixture.control(`disputes/${made}`, { status: 'LOST', names: 'payment' })) as Made
    await tell(lost, 'LOST').catch(() => {})
    expect((await fixture.row(id))!.refundedMinor).toBe(0n)
    await fixture.control(`payments/${second}/tell`)
    await fixture.list()
    await tell(lost, 'LOST')
    await fixture.becomes(id, { refundedMinor: 0n, overpaidRefundedMinor: 50_000n })
    expect(await isFrozen(id)).toBe(false)
  })

  // guard: a refund or dispute that is not found for a moment stays with its payment
  test('count for the second payment, although its refund is not found when it succeeds', async () => {
    const { id, second } = await paidTwice()
    const opened = { status: 'PENDING', version: 3 }
    const { refund_id: made } = await fixture.control(`payments/${second}/refund`, opened)
    await fixture.list()
    await fixture.control('faults', { webhooks: { drop: 1 }, api: { hideRefunds: 1 } })
    await fixture.control(`refunds/${made}/succeed`)
    await fixture.list()
    const counted = { refundedMinor: 0n, overpaidRefundedMinor: 50_000n }
    await fixture.becomes(id, counted)
    await fixture.control('faults', { webhooks: { drop: 1 }, api: {} })
    await fixture.list()
    await fixture.becomes(id, counted)
    expect(await isFrozen(id)).toBe(false)
  })

  test('raise an alert when the dispute does not identify one of two payments', async () => {
    const { id, second } = await paidTwice()
    await dispute(second)
    await fixture.list()
    await fixture.becomes(id, { refundedMinor: 50_000n, overpaidRefundedMinor: 0n })
    expect(await fixture.anomalies()).toContainEqual(
      expect.objectContaining({ kind: 'charge_ambiguous', paymentId: id }),
    )
    const raised = { kind: 'charge_ambiguous', msg: 'unclear report from provider' }
    expect(fixture.alarms).toContainEqual(expect.objectContaining(raised))
  })
})

test('a refund that we ordered is waived no longer once it bounces, whatever its row refers to', async () => {
  const id = await given('QRIS')
  const made = await refund(id, { reference_id: `ordered-${id}`, amount: 20_000 })
  const readRow = async () => {
    const since = new Date(fixture.context.clock() - 600_000)
    for (const row of await fixture.listing.list('ID', since))
      if (row.productId === made) await fixture.listing.receive('ID', { ...row, reference: null })
  }
  await readRow()
  await fixture.becomes(id, { state: 'credited', writtenOffMicro: 1_230_770n })
  await fixture.control(`refunds/${made}/fail`)
  await readRow()
  await fixture.becomes(id, { state: 'credited', refundedMinor: 0n, writtenOffMicro: 0n })
  await dispute(id, { amount: 20_000 })
  await fixture.list()
  await fixture.becomes(id, { refundedMinor: 20_000n })
  expect(await isFrozen(id)).toBe(true)
})

describe('a refund that we ordered of money that a dispute had taken', () => {
  const disputedAndRefunded = async (amount: number) => {
    const id = await given('QRIS')
    const made = await dispute(id)
    await fixture.list()
    await fixture.becomes(id, { state: 'review', reason: 'refunded_after_credit', refundedMinor: 50_000n })
    const ours = await refund(id, { reference_id: `ordered-${id}`, amount })
    await fixture.list()
    await fixture.becomes(id, { refundedMinor: 50_000n + BigInt(amount) })
    return { id, made, ours }
  }

  test.each([50_000, 20_000])('is not owed by the wallet once the dispute is won, of %d', async (amount) => {
    const { id, made } = await disputedAndRefunded(amount)
    expect(await isFrozen(id)).toBe(true)
    await fixture.control(`chargebacks/${made}`, { status: 'REVERSED' })
    await fixture.list()
    await fixture.becomes(id, { refundedMinor: BigInt(amount) })
    expect([await missingOf(id), await isFrozen(id)]).toEqual([0n, false])
    await booked(id)
  })

  test('leaves the loss of the dispute when it bounces', async () => {
    const { id, ours } = await disputedAndRefunded(50_000)
    await fixture.control(`refunds/${ours}/fail`)
    await fixture.list()
    await fixture.becomes(id, { refundedMinor: 50_000n, writtenOffMicro: 0n, state: 'review' })
    expect([await missingOf(id), await isFrozen(id)]).toEqual([3_076_923n, true])
    await booked(id)
  })
})

test.each(['before', 'after'])(
  'a refund that we ordered is not owed if its charge is listed as voided %s it',
  async (when) => {
    const id = await given('QRIS')
    const happen = [
      () => fixture.control(`payments/${id}/tell`, { listed: 'VOIDED' }),
      () => refund(id, { reference_id: `ordered-${id}` }),
    ]
    for (const one of when === 'before' ? happen : happen.toReversed()) {
      await one()
      await fixture.list()
    }
    await fixture.becomes(id, { refundedMinor: 50_000n, writtenOffMicro: 3_076_923n })
    expect([await missingOf(id), await isFrozen(id)]).toEqual([0n, false])
    await booked(id)
  },
)

test('a refund that we ordered, and that failed, is not owed if it is made after all while the credit waits', async () => {
  const id = await opened()
  await pay(id)
  await fixture.list()
  await fixture.becomes(id, { state: 'paid' })
  const ours = await refund(id, { reference_id: `ordered-${id}`, amount: 20_000 })
  await fixture.list()
  await fixture.becomes(id, { state: 'paid', refundedMinor: 20_000n, writtenOffMicro: 1_230_770n })
  await booked(id)
  await fixture.settle('credit', id)
  await fixture.becomes(id, { state: 'credited', refundedMinor: 20_000n, writtenOffMicro: 1_230_770n })
  expect([await missingOf(id), await isFrozen(id)]).toEqual([0n, false])
  expect(await booked(id)).not.toHaveProperty('clawback AUSD')
  await fixture.control(`refunds/${ours}/fail`)
  await fixture.list()
  await fixture.becomes(id, { state: 'credited', refundedMinor: 0n, writtenOffMicro: 0n })
})

test('a refund that we ordered is waived no longer once the credit has failed for which it was waived', async () => {
  const id = await opened()
  await pay(id)
  await fixture.list()
  await refund(id, { reference_id: `ordered-${id}`, amount: 20_000 })
  await fixture.list()
  await fixture.becomes(id, { state: 'paid', writtenOffMicro: 1_230_770n })
  await fixture.settle('credit', id, true)
  await fixture.becomes(id, { state: 'review', reason: 'credit_failed', refundedMinor: 20_000n, writtenOffMicro: 0n })
  await booked(id)
  expect((await fixture.resolve(id, 'credit')).ok).toHaveProperty('done')
  await fixture.settle('credit', `${id}.1`)
  await fixture.becomes(id, { state: 'credited', onchainMicro: 1_846_153n })
  await dispute(id, { amount: 30_000 })
  await fixture.list()
  await fixture.becomes(id, { refundedMinor: 50_000n })
  expect(await missingOf(id)).toBe(1_846_153n)
  await booked(id)
})

test('a refund that we ordered of a payment that covered an earlier loss stays waived for that loss if the credit fails', async () => {
  const earlier = await given('QRIS')
  const { wallet } = (await fixture.row(earlier))!
  await dispute(earlier, { amount: 20_000 })
  await fixture.list()
  await fixture.becomes(earlier, { state: 'review', refundedMinor: 20_000n })
  const asked = { wallet, quoteId: fixture.quote(), amount: '50000', method: 'qr' } as const
  const id = (await fixture.topup(asked)).ok!.paymentId
  await pay(id)
  await fixture.list()
  const covered = { recoveredMicro: 1_230_770n, onchainMicro: 1_846_153n }
  await fixture.becomes(id, { state: 'paid', ...covered })
  await refund(id, { reference_id: `ordered-${id}` })
  await fixture.list()
  await fixture.becomes(id, { state: 'paid', refundedMinor: 50_000n, writtenOffMicro: 3_076_923n })
  await booked(id)
  await fixture.settle('credit', id, true)
  await fixture.becomes(id, { state: 'review', reason: 'credit_failed', writtenOffMicro: 1_230_770n })
  expect([await missingOf(id), await isFrozen(id)]).toEqual([0n, false])
  await booked(id)
})
