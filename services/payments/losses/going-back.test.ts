import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import type { ReceivedRefund } from '../incoming/receive'
import { receiveCharge, receiveRefund } from '../incoming/receive'
import { newWallet, openFixture, waitUntil } from '../test-support'
import { actionsOn, kinds } from './test-support'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())
beforeEach(fixture.withoutWebhooks)

const { opened, given, ending, holdFor, refund, dispute, isFrozen, isExtended } = actionsOn(fixture)
const release = () => {
  fixture.chain.hold = { state: 'released', until: Math.floor(fixture.context.clock() / 1_000) - 1 }
}

const tell = (id: string, words: object) => fixture.control(`payments/${id}/tell`, words)
const endHold = async () => {
  release()
  await fixture.recheck(20_000)
}

describe.each(kinds)('the hold of a %s is extended and does not mature', (kind) => {
  const onHold = kind === 'topup' ? 'held' : 'repaid'
  test.each([
    ['a refund is pending', (id: string) => refund(id, { status: 'PENDING' })],
    [
      'a refund is in a status that we do not know',
      async (id: string) => {
        const made = await refund(id, { status: 'PENDING' })
        await fixture.control(`refunds/${made}/tell`, { status: 'REQUIRES_ACTION' })
      },
    ],
    ['a dispute is open', (id: string) => dispute(id, { status: 'PENDING' })],
    ['the charge reads FAILED', (id: string) => tell(id, { status: 'FAILED' })],
    ['the charge reads PENDING', (id: string) => tell(id, { status: 'PENDING' })],
    ['the charge is in a status that we do not know', (id: string) => tell(id, { status: 'HELD' })],
    ['its row in the list reads FAILED', (id: string) => tell(id, { listed: 'FAILED' })],
    ['its row is in a status that we do not know', (id: string) => tell(id, { listed: 'HELD' })],
    ['the list is forbidden', () => fixture.control('faults', { api: { forbidList: 1 } })],
    ['the charge is not found', () => fixture.control('faults', { api: { hidePayments: 1 } })],
  ] as const)('while %s', async (_, happen) => {
    const id = await ending(kind)
    await happen(id)
    await fixture.recheck(0)
    expect(await isExtended(id)).toBe(true)
    await endHold()
    await fixture.becomes(id, { state: onHold, holdEndedAt: null })
    // The AUSD of the payment is free on the chain now, so only the freeze keeps it.
    expect(await isFrozen(id)).toBe(true)
  })

  // guard: a hold does not end while a refund or dispute is open
  test('until a pending refund has failed, and the wallet is free again', async () => {
    const id = await ending(kind)
    const made = await refund(id, { status: 'PENDING' })
    await fixture.recheck(0)
    await endHold()
    expect(await isFrozen(id)).toBe(true)
    await fixture.control(`refunds/${made}/fail`)
    await fixture.recheck(20_000)
    expect((await fixture.row(id))!.holdEndedAt).not.toBeNull()
    expect(await isFrozen(id)).toBe(false)
  })

  test('until a charge that read FAILED for a while reads SUCCEEDED again', async () => {
    const id = await ending(kind)
    await tell(id, { status: 'FAILED' })
    await fixture.recheck(0)
    expect(await isExtended(id)).toBe(true)
    await tell(id, {})
    holdFor(4)
    await fixture.recheck(20_000)
    await endHold()
    expect((await fixture.row(id))!.holdEndedAt).not.toBeNull()
  })
})

describe.each(kinds)('a %s on hold is revoked', (kind) => {
  test.each([
    ['its charge is cancelled', (id: string) => tell(id, { status: 'CANCELED' })],
    ['the list shows it voided', (id: string) => tell(id, { listed: 'VOIDED' })],
    ['the list shows it reversed', (id: string) => tell(id, { listed: 'REVERSED' })],
    // guard: an amount in another currency counts as all that is left
    ['it is disputed in ringgit', (id: string) => dispute(id, { amount: 7_771, currency: 'MYR' })],
    ['it is disputed in a currency that we do not know', (id: string) => dispute(id, { amount: 18, currency: 'USD' })],
  ] as const)('as a whole when %s', async (_, happen) => {
    const id = await ending(kind)
    await happen(id)
    await fixture.recheck(0)
    const { state, refundedMinor, fiatMinor } = (await fixture.row(id))!
    expect([state, refundedMinor]).toEqual(['revoking', fiatMinor])
    // The hold must not end before the revocation is final.
    expect(await isExtended(id)).toBe(true)
  })
})

describe('after the hold', () => {
  test.each([
    ['REVERSED in the list', { listed: 'REVERSED' }],
    ['VOIDED in the list', { listed: 'VOIDED' }],
    ['CANCELED and VOIDED', { status: 'CANCELED', listed: 'VOIDED' }],
  ])('a charge that reads %s freezes the wallet, until it reads SUCCESS again', async (_, words) => {
    const id = await given('QRIS')
    await tell(id, words)
    await fixture.list()
    await fixture.becomes(id, { state: 'review', reason: 'refunded_after_credit' })
    expect(await isFrozen(id)).toBe(true)
    await tell(id, {})
    await fixture.list()
    await fixture.becomes(id, { state: 'credited', refundedMinor: 0n })
    expect(await isFrozen(id)).toBe(false)
  })

  test('a refund that fails in the end undoes the freeze, and nothing is paid twice', async () => {
    const id = await given('QRIS')
    const made = await refund(id)
    await fixture.list()
    await fixture.becomes(id, { state: 'review' })
    expect(await isFrozen(id)).toBe(true)
    await fixture.control('faults', {})
    await fixture.control(`refunds/${made}/fail`)
    await fixture.list()
    await fixture.becomes(id, { state: 'credited', reason: 'refund_undone', refundedMinor: 0n })
    expect(await isFrozen(id)).toBe(false)
    expect(fixture.alarmsOf(id)).toContain('refund or dispute undone, money is ours again')
  })

  test('a refund that bounces after the loss was repaid raises an alert', async () => {
    const id = await given('QRIS')
    const { wallet } = (await fixture.row(id))!
    const made = await refund(id)
    await fixture.list()
    const quoteId = fixture.quote()
    const paying = await fixture.topup({ wallet, amount: '50000', method: 'qr', quoteId })
    await fixture.control(`sessions/${paying.ok!.paymentId}/pay`, { channel_code: 'QRIS' })
    await fixture.list()
    await fixture.becomes(paying.ok!.paymentId, { state: 'credited', reason: 'made_good' })
    await fixture.control(`refunds/${made}/fail`)
    await fixture.list()
    await fixture.becomes(id, { refundedMinor: 0n })
    const kindsOf = (await fixture.anomalies()).filter(({ paymentId }) => paymentId === id)
    expect(kindsOf.map(({ kind }) => kind)).toContain('repaid_needlessly')
    expect(fixture.alarmsOf(id)).toContain('reversal undone after it was repaid: give it back to the wallet')
  })

  test('a charge that read CANCELED for a while waits for an operator, although its row never changed', async () => {
    const id = await ending()
    await tell(id, { status: 'CANCELED' })
    await fixture.recheck(0)
    await fixture.settle('revoke', id)
    await fixture.becomes(id, { state: 'revoked' })
    await tell(id, {})
    await fixture.list()
    await fixture.becomes(id, { state: 'review', reason: 'refund_undone', refundedMinor: 0n })
  })

  test.each(kinds)(
    'a refund that bounces after an operator has accepted the %s waits for an operator again',
    async (kind) => {
      const id = await ending(kind)
      const made: string[] = []
      for (const amount of [10_000, 20_000]) {
        made.push(await refund(id, { amount }))
        await fixture.list()
        const { leftMicro } = await fixture.becomes(id, { state: 'revoking' })
        await fixture.settle('revoke', `${id}:${leftMicro}`)
        await fixture.becomes(id, { reason: 'refunded_in_part', onchainMicro: leftMicro })
      }
      const [part, other] = made
      await endHold()
      await fixture.control(`refunds/${part}/fail`)
      await fixture.list()
      await fixture.becomes(id, { state: 'review', reason: 'refund_undone', refundedMinor: 20_000n })
      expect((await fixture.resolve(id, 'accept')).ok).toHaveProperty('done')
      await fixture.control(`refunds/${other}/fail`)
      await fixture.list()
      await fixture.becomes(id, { state: 'review', reason: 'refund_undone', refundedMinor: 0n })
      expect((await fixture.resolve(id, 'refund')).ok!.done).toContain('ordered')
    },
  )

  test('a refund that bounces after the revocation waits for an operator, who credits it', async () => {
    const id = await ending()
    const made = await refund(id)
    await fixture.recheck(0)
    await fixture.settle('revoke', id)
    await fixture.becomes(id, { state: 'revoked' })
    await fixture.control(`refunds/${made}/fail`)
    await fixture.list()
    await fixture.becomes(id, { state: 'review', reason: 'refund_undone', refSequence: 1 })
    expect((await fixture.resolve(id, 'credit')).ok).toHaveProperty('done')
    await fixture.becomes(id, { state: 'paid', onchainMicro: 3_076_923n })
    const credits = (await fixture.orders(id)).filter(({ subject }) => subject === 'relay.credit')
    expect(credits.map(({ payload }) => (payload as { refId: string }).refId)).toEqual([id, `${id}.1`])
  })
})

describe('a refund is counted once', () => {
  test('whether or not its row in the list has an id of its own', async () => {
    const id = await given('QRIS')
    await fixture.control('faults', { api: { namelessRefunds: 1 } })
    await refund(id, { amount: 10_000 })
    await fixture.list()
    await fixture.becomes(id, { refundedMinor: 10_000n })
    await refund(id, { amount: 15_000 })
    await fixture.list()
    await fixture.becomes(id, { refundedMinor: 25_000n })
    await fixture.control('faults', {})
    await fixture.list()
    expect((await fixture.row(id))!.refundedMinor).toBe(25_000n)
  })

  test('against the charge that it names last, also if that is of another payment', async () => {
    const [first, second] = [await given('QRIS'), await given('QRIS')]
    const report = async (id: string) => {
      const { providerPaymentId } = (await fixture.row(id))!
      const fetched = (await fixture.provider.findCharge('ID', providerPaymentId!))!
      const made: ReceivedRefund = {
        refundId: `rfd-${first}`,
        status: 'succeeded',
        reference: null,
        currency: 'IDR',
        paymentId: providerPaymentId,
        paymentRequestId: null,
        refundedMinor: 50_000n,
      }
      const priced = { ...fetched, presentMinorPerUsd: null }
      await fixture.database.transaction((tx) => receiveRefund(tx, fixture.context, made, priced))
    }
    await report(first)
    expect(await isFrozen(first)).toBe(true)
    await report(second)
    expect(await fixture.row(first)).toMatchObject({ state: 'credited', refundedMinor: 0n })
    expect(await fixture.row(second)).toMatchObject({ state: 'review', refundedMinor: 50_000n })
    expect([await isFrozen(first), await isFrozen(second)]).toEqual([false, true])
  })

  test('if it is known before its charge is decided, and the books are even', async () => {
    const id = await given('QRIS')
    const { providerPaymentId, paymentRequestId } = (await fixture.row(id))!
    const fetched = (await fixture.provider.findCharge('ID', providerPaymentId!))!
    const later = await opened()
    const charge = {
      ...fetched.charge,
      paymentId: `py-${later}`,
      reference: later,
      paymentRequestId: `pr-${later}`,
    }
    const made: ReceivedRefund = {
      refundId: `rfd-${later}`,
      status: 'succeeded',
      reference: null,
      currency: 'IDR',
      paymentId: charge.paymentId,
      paymentRequestId,
      refundedMinor: 50_000n,
    }
    const receive = (status: 'pending' | 'succeeded') =>
      fixture.database.transaction(async (tx) => {
        const priced = { status, charge, presentMinorPerUsd: null }
        await receiveRefund(tx, fixture.context, made, priced)
        await receiveCharge(tx, fixture.context, priced)
      })
    await receive('pending')
    expect(await fixture.row(later)).toMatchObject({
      state: 'awaiting_payment',
      refundedMinor: 0n,
      overpaidRefundedMinor: 0n,
    })
    await receive('succeeded')
    expect(await fixture.row(later)).toMatchObject({
      state: 'refunded',
      refundedMinor: 50_000n,
      overpaidRefundedMinor: 0n,
    })
  })
})

describe('a payment that the list shows', () => {
  test.each([
    ['cannot be found', { hidePayments: 1 }],
    ['reads FAILED', { failPayments: 1 }],
  ])('but that %s for a while is credited at the next reading', async (_, api) => {
    const id = await opened()
    await fixture.control('faults', { api })
    await fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS' }).catch(() => {})
    for (let readings = 0; readings < 3; readings++) await fixture.list()
    await fixture.control('faults', { api: {} })
    await fixture.list()
    await fixture.becomes(id, { state: 'paid' })
    expect((await fixture.anomalies()).filter(({ paymentId }) => paymentId === id)).toEqual([])
  })

  test('is paid at our own time if the provider has times of another form', async () => {
    const id = await opened('settlement')
    await fixture.control('faults', { webhooks: { drop: 1 }, api: { oddTimes: 1 } })
    await fixture.control(`sessions/${id}/pay`, { channel_code: 'BCA_VIRTUAL_ACCOUNT' })
    await fixture.list()
    const { paidAt } = await fixture.becomes(id, { state: 'paid' })
    expect(paidAt!.getTime()).toBeGreaterThan(Date.now() - 3_600_000)
  })
})

test('a refund whose charge is not found is counted after the charge is', async () => {
  const id = await given('QRIS')
  await fixture.control('faults', { webhooks: { drop: 1 }, api: { hidePayments: 1 } })
  await refund(id)
  await fixture.list().catch(() => {})
  await fixture.control('faults', {})
  await fixture.list()
  await fixture.becomes(id, { state: 'review', refundedMinor: 50_000n })
})

test('a checkout for another amount is refused, and cancelled', async () => {
  await fixture.control('faults', { api: { otherCheckout: 1 } })
  const quoteId = fixture.quote()
  const asked = { wallet: newWallet(), amount: '50000', method: 'qr', quoteId }
  expect(await fixture.topup(asked)).toEqual({ refused: 'provider_unavailable' })
  const { sessions } = (await fixture.control('book')) as unknown as {
    sessions: { status: string; reference_id: string }[]
  }
  expect(sessions.at(-1)).toMatchObject({ status: 'CANCELED' })
  expect(fixture.alarms.at(-1)).toMatchObject({ msg: 'checkout refused by provider' })
})

describe('a revocation that is not executed', () => {
  async function revoking(): Promise<string> {
    const id = await given('CARDS')
    holdFor(60)
    await refund(id)
    await fixture.list()
    await fixture.becomes(id, { state: 'revoking' })
    return id
  }

  // guard: a hold lasts until its revocation is final
  test('extends the hold before it ends, until it is final', async () => {
    const id = await revoking()
    await fixture.recheck(0)
    expect(await isExtended(id)).toBe(false)
    holdFor(4)
    await fixture.recheck(60_000)
    expect(await isExtended(id)).toBe(true)
    await fixture.settle('revoke', id)
    await fixture.becomes(id, { state: 'revoked' })
    expect(await isFrozen(id)).toBe(false)
  })

  test('freezes the wallet if the hold cannot be extended, until it is revoked', async () => {
    const id = await revoking()
    await fixture.settle('extend', `${id}:1`, true)
    expect(await isFrozen(id)).toBe(false)
    const until = String(Math.floor(fixture.context.clock() / 1_000))
    await fixture.settle('extend', `${id}:${until}`, true, undefined, 'hold_not_extendable')
    expect(await isFrozen(id)).toBe(true)
    const raised = ['hold extension failed', 'hold extension failed', 'hold could not be kept, wallet frozen']
    expect(fixture.alarmsOf(id)).toEqual(raised)
    await fixture.settle('revoke', id)
    expect(await isFrozen(id)).toBe(false)
  })

  test('freezes the wallet if the hold has ended on the chain', async () => {
    const id = await revoking()
    release()
    await fixture.recheck(60_000)
    await fixture.becomes(id, { state: 'revoking' })
    expect(await isFrozen(id)).toBe(true)
  })
})

test('an alert is raised once a hold has been extended for half a day', async () => {
  const id = await ending()
  await refund(id, { status: 'PENDING' })
  await fixture.recheck(0)
  await waitUntil('the extension', () => isExtended(id))
  holdFor(12 * 3_600 + 30)
  expect(fixture.alarmsOf(id)).toEqual([])
  fixture.time.aheadMs += 12 * 3_600_000
  await fixture.recheck(20_000)
  expect(fixture.alarmsOf(id)).toEqual(['hold extended, money may be going back'])
})

test('a second payment that is voided is no longer owed to its payer, until the void is taken back', async () => {
  const quoteId = fixture.quote()
  const asked = { wallet: newWallet(), amount: '50000', method: 'qr', quoteId }
  await fixture.control('faults', { webhooks: { drop: 1 }, api: { errorAfterAccept: 1 } })
  await fixture.topup(asked)
  await fixture.control('faults', { webhooks: { drop: 1 }, api: {} })
  const id = (await fixture.topup(asked)).ok!.paymentId
  const { sessions } = (await fixture.control('book')) as unknown as {
    sessions: { reference_id: string; payment_session_id: string }[]
  }
  const paid: string[] = []
  for (const { reference_id: reference, payment_session_id: session } of sessions) {
    if (reference !== id) continue
    const made = await fixture.control(`sessions/${session}/pay`, { channel_code: 'QRIS' })
    paid.push(made.payment_id)
  }
  await fixture.list()
  const { providerPaymentId } = await fixture.becomes(id, { overpaidMinor: 50_000n })
  const second = paid.find((one) => one !== providerPaymentId)!
  await tell(second, { status: 'CANCELED', listed: 'VOIDED' })
  await fixture.list()
  await fixture.becomes(id, { overpaidRefundedMinor: 50_000n, refundedMinor: 0n })
  const fetched = (await fixture.provider.findCharge('ID', second))!
  await fixture.database.transaction((tx) =>
    receiveCharge(tx, fixture.context, { ...fetched, presentMinorPerUsd: null }),
  )
  await tell(second, {})
  await fixture.list()
  await fixture.becomes(id, { overpaidRefundedMinor: 0n, refundedMinor: 0n })
  expect(fixture.alarmsOf(id)).toContain('refund of a second payment undone, it is owed')
})

test('a pending refund that is found together with a late charge is asked for again', async () => {
  const id = await opened()
  await fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS', force: true })
  const made = await refund(id, { status: 'PENDING' })
  await fixture.recheck(70_000)
  await fixture.becomes(id, { state: 'paid', held: true })
  expect(await fixture.report(made)).toMatchObject({ status: 'pending', nextCheckAt: expect.any(Date) })
})
