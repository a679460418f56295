import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { booksOf } from '../ledger/test-support'
import { openFixture } from '../test-support'
import { reviewsOf } from './test-support'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.control('faults', {}))
const { booked } = booksOf(fixture)
const { topup, differing, atProvider, succeed } = reviewsOf(fixture)
const givenMicro = 3_076_923n

async function credited(): Promise<string> {
  const id = await topup('QRIS')
  await fixture.becomes(id, { state: 'paid' })
  await fixture.settle('credit', id)
  await fixture.becomes(id, { state: 'credited', onchainMicro: givenMicro })
  return id
}
const frozen = async (id: string) => (await fixture.walletRow((await fixture.row(id))!.wallet))?.frozen ?? false
const given = { 'collateral AUSD': -givenMicro, 'waived AUSD': givenMicro }

describe('a credited top-up whose AUSD came back', () => {
  test('is refunded by the provider, and its wallet owes nothing', async () => {
    const id = await credited()
    const { ok } = await fixture.refundTopup(id, givenMicro)
    expect(ok).toMatchObject({ done: `${id}: refund to the payer ordered: Rp 50,000 as ordered-${id}_1` })
    await fixture.recheck()
    expect(await atProvider(id)).toMatchObject([{ amount: 50_000, status: 'PENDING' }])
    expect(await frozen(id)).toBe(false)
    await succeed(id)
    await fixture.becomes(id, { state: 'accepted', reason: 'refunded_after_credit', refundedMinor: 50_000n })
    expect([await frozen(id), await booked(id)]).toMatchObject([false, given])
    expect(await booked(id)).not.toHaveProperty('clawback AUSD')
  })

  // guard: a credited top-up is refunded once
  test('is refunded once, however often the command arrives, and by no second command', async () => {
    const id = await credited()
    const command = crypto.randomUUID()
    expect((await fixture.refundTopup(id, givenMicro, { command })).ok).toHaveProperty('done')
    expect((await fixture.refundTopup(id, givenMicro, { command })).ok!.done).toContain('is now refunding')
    expect((await fixture.refundTopup(id, givenMicro)).ok!.refused).toContain('is refunding, not credited')
    await fixture.recheck()
    await succeed(id)
    await fixture.becomes(id, { state: 'accepted' })
    expect((await fixture.refundTopup(id, givenMicro, { command })).ok!.done).toContain('is now accepted')
    expect((await fixture.refundTopup(id, givenMicro)).ok).toHaveProperty('refused')
    expect(await fixture.orderedRefunds(id)).toHaveLength(1)
  })

  test('is credited again if its refund fails, and can then be refunded', async () => {
    const id = await credited()
    await fixture.refundTopup(id, givenMicro)
    await fixture.recheck()
    const [first] = await atProvider(id)
    await fixture.control(`refunds/${first!.id}/fail`)
    await fixture.becomes(id, { state: 'credited', reason: 'refund_undone', refundedMinor: 0n })
    expect((await fixture.refundTopup(id, givenMicro)).ok!.done).toContain(`ordered-${id}_2`)
    await fixture.recheck()
    await succeed(id)
    await fixture.becomes(id, { state: 'accepted', refundedMinor: 50_000n })
    expect([await frozen(id), await booked(id)]).toMatchObject([false, given])
  })

  test('is credited again if its refund comes back after it succeeded', async () => {
    const id = await credited()
    await fixture.refundTopup(id, givenMicro)
    await fixture.recheck()
    await succeed(id)
    await fixture.becomes(id, { state: 'accepted' })
    const [made] = await atProvider(id)
    await fixture.control(`refunds/${made!.id}/fail`)
    await fixture.becomes(id, { state: 'credited', reason: 'refund_undone', refundedMinor: 0n })
    expect(await booked(id)).not.toHaveProperty('waived AUSD')
    expect((await fixture.refundTopup(id, givenMicro)).ok).toHaveProperty('done')
  })

  test('owes nothing for its refund if its charge read as failed before the refund is known, also if the refund comes back', async () => {
    const id = await credited()
    await fixture.refundTopup(id, givenMicro)
    await fixture.recheck()
    await fixture.control('faults', { webhooks: { drop: 1 } })
    await fixture.control(`payments/${id}/tell`, { status: 'FAILED' })
    const { providerPaymentId } = (await fixture.row(id))!
    const data = { payment_id: providerPaymentId, reference_id: id }
    const body = JSON.stringify({ event: 'payment.failure', data })
    expect(await fixture.deliver('ID', body, crypto.randomUUID())).toBe('done')
    await fixture.control(`payments/${id}/tell`, {})
    await fixture.control('faults', {})
    await succeed(id)
    await fixture.becomes(id, { state: 'accepted', reason: 'refunded_after_credit', writtenOffMicro: givenMicro })
    expect([await frozen(id), await booked(id)]).toMatchObject([false, given])
    expect(fixture.alarmsOf(id)).not.toContain('payment reversed after hold, wallet frozen')
    const [made] = await atProvider(id)
    await fixture.control(`refunds/${made!.id}/fail`)
    await fixture.becomes(id, { state: 'credited', reason: 'refund_undone', refundedMinor: 0n, writtenOffMicro: 0n })
    expect(await booked(id)).not.toHaveProperty('waived AUSD')
  })

  test('owes nothing for its refund that becomes known while its charge reads as voided', async () => {
    const id = await credited()
    await fixture.refundTopup(id, givenMicro)
    await fixture.recheck()
    await fixture.control('faults', { webhooks: { drop: 1 } })
    await fixture.control(`payments/${id}/tell`, { listed: 'VOIDED' })
    await fixture.list()
    await fixture.becomes(id, { refundedMinor: 50_000n })
    expect(await frozen(id)).toBe(true)
    await succeed(id)
    fixture.time.aheadMs += 10_000
    await fixture.recheck(700_000)
    await fixture.control(`payments/${id}/tell`, {})
    await fixture.control('faults', {})
    fixture.time.aheadMs += 10_000
    await fixture.list()
    await fixture.becomes(id, { state: 'accepted', refundedMinor: 50_000n, writtenOffMicro: givenMicro })
    expect([await frozen(id), await booked(id)]).toMatchObject([false, given])
  })

  test('is credited again once its refund comes back, if a dispute that was won later took the money before', async () => {
    const id = await credited()
    await fixture.refundTopup(id, givenMicro)
    await fixture.recheck()
    const dispute = await fixture.control(`payments/${id}/chargeback`, { status: 'SUCCESS' })
    await fixture.list()
    await fixture.becomes(id, { refundedMinor: 50_000n })
    await succeed(id)
    await fixture.becomes(id, { refundedMinor: 100_000n })
    await fixture.control(`chargebacks/${dispute.id}`, { status: 'REVERSED' })
    await fixture.list()
    await fixture.becomes(id, { refundedMinor: 50_000n })
    const [made] = await atProvider(id)
    await fixture.control(`refunds/${made!.id}/fail`)
    await fixture.list()
    await fixture.becomes(id, { state: 'credited', refundedMinor: 0n, writtenOffMicro: 0n })
  })

  test('security: freezes its wallet if a dispute takes the money as well', async () => {
    const id = await credited()
    await fixture.refundTopup(id, givenMicro)
    await fixture.recheck()
    await succeed(id)
    await fixture.becomes(id, { state: 'accepted' })
    await fixture.control(`payments/${id}/chargeback`, { status: 'SUCCESS' })
    await fixture.list()
    expect(await frozen(id)).toBe(true)
  })
})

describe('a refund of a credited top-up is refused', () => {
  // guard: a credited top-up is refunded only after its AUSD came back
  test('security: if less came back than it gave', async () => {
    const id = await credited()
    expect((await fixture.refundTopup(id, givenMicro - 1n)).ok!.refused).toContain('3.076923 AUSD')
    expect(await fixture.row(id)).toMatchObject({ state: 'credited' })
  })

  // guard: AUSD that came back counts for one payment
  test('security: if its AUSD came in a transfer that another payment was refunded against', async () => {
    const [one, two] = [await credited(), await credited()]
    const transfers = [`0x${'cd'.repeat(32)}:1`]
    const outcomes = await Promise.all([one, two].map((id) => fixture.refundTopup(id, givenMicro, { transfers })))
    const [first, second] = 'done' in outcomes[0]!.ok! ? [one, two] : [two, one]
    expect(outcomes.map(({ ok }) => Object.keys(ok!)[0]).sort()).toEqual(['done', 'refused'])
    expect(outcomes.find(({ ok }) => ok!.refused)!.ok!.refused).toContain(`was used for ${first}`)
    const more = [...transfers, `0x${'ce'.repeat(32)}:1`]
    expect((await fixture.refundTopup(second, givenMicro, { transfers: more })).ok!.refused).toContain('was used for')
    expect(await fixture.row(second)).toMatchObject({ state: 'credited' })
    expect(await fixture.orderedRefunds(second)).toEqual([])
    expect((await fixture.refundTopup(second, givenMicro, { transfers: more.slice(1) })).ok).toHaveProperty('done')
  })

  // guard: a credited top-up of a frozen wallet is not refunded
  test('security: while its wallet is frozen', async () => {
    const id = await credited()
    const { wallet } = (await fixture.row(id))!
    await fixture.freeze(wallet, 'frozen')
    expect((await fixture.refundTopup(id, givenMicro)).ok!.refused).toContain(`${wallet} is frozen`)
    await fixture.freeze(wallet, 'free')
    expect((await fixture.refundTopup(id, givenMicro)).ok).toHaveProperty('done')
  })

  test('if the payment is in review, unknown, or a settlement', async () => {
    expect((await fixture.refundTopup(await differing(), givenMicro)).ok!.refused).toContain('review resolve')
    expect((await fixture.refundTopup('pay_none', givenMicro)).ok!.refused).toContain('no payment')
  })

  test('while it is on hold, which its refund in the dashboard revokes', async () => {
    const id = await topup('DANA')
    await fixture.becomes(id, { state: 'paid' })
    await fixture.settle('credit', id)
    await fixture.becomes(id, { state: 'held' })
    expect((await fixture.refundTopup(id, givenMicro)).ok!.refused).toContain('on hold')
  })

  test('security: while a dispute of it is open', async () => {
    const id = await credited()
    await fixture.list()
    await fixture.control(`payments/${id}/chargeback`, { status: 'PENDING', names: 'payment' })
    await fixture.list()
    expect((await fixture.refundTopup(id, givenMicro)).ok!.refused).toContain('dispute of it')
  })

  // guard: operators decide about the payment that they were shown
  test('if it has changed since operators signed it', async () => {
    const id = await credited()
    const { micro, to, seen } = (await fixture.worthOf('payments.topup.refund', { paymentId: id }))!
    expect({ micro, to }).toEqual({ micro: givenMicro, to: (await fixture.row(id))!.wallet })
    const terms = { micro: String(micro), to, seen: new Date(0).toISOString(), until: new Date().toISOString() }
    const approval = { terms, signatures: [{ by: 'sari', signature: `0x${'1'.repeat(130)}` }] }
    expect((await fixture.refundTopup(id, givenMicro, { approval })).ok!.refused).toContain('just changed')
    const now = { ...approval, terms: { ...terms, seen } }
    expect((await fixture.refundTopup(id, givenMicro, { approval: now })).ok).toHaveProperty('done')
  })
})
