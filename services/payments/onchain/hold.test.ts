import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { recheckOnce } from '../incoming/recheck'
import { newWallet, openFixture, waitUntil } from '../test-support'
import { checkHold } from './hold'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())
beforeEach(async () => {
  Object.assign(fixture.chain, { verified: true, drawn: '3000000', frozen: false })
  await fixture.rest()
  await fixture.control('faults', {})
})

const holdFor = (seconds: number) => {
  const until = Math.floor(fixture.context.clock() / 1_000) + seconds
  fixture.chain.hold = { state: 'held', until }
  return until
}
const release = () => {
  fixture.chain.hold = { state: 'released', until: Math.floor(fixture.context.clock() / 1_000) - 1 }
}
const isFrozen = async (id: string) => (await fixture.walletRow((await fixture.row(id))!.wallet))?.frozen ?? false
const silence = () => fixture.control('faults', { api: { errorRate: 1 }, webhooks: { drop: 1 } })

type Kind = 'topup' | 'settlement'
async function onHold(kind: Kind): Promise<string> {
  const wallet = newWallet()
  const quoteId = fixture.quote()
  const answer =
    kind === 'topup'
      ? await fixture.topup({ wallet, amount: '50000', method: 'card', quoteId })
      : await fixture.settlement({ wallet, quoteId })
  const id = answer.ok!.paymentId
  await fixture.control(`sessions/${id}/pay`, { channel_code: 'CARDS', force: true })
  await fixture.becomes(id, { state: 'paid', held: true })
  await fixture.settle(kind === 'topup' ? 'credit' : 'repay', id)
  return id
}

describe.each([
  ['topup', 'held', 'credited'],
  ['settlement', 'repaid', 'repaid'],
] as const)('the hold of a %s', (kind, state, matured) => {
  test('ends when the chain has released it and the provider was checked', async () => {
    const id = await onHold(kind)
    holdFor(60)
    await fixture.recheck()
    await fixture.becomes(id, { state, holdEndedAt: null })
    release()
    await fixture.recheck(60_000)
    const row = await fixture.becomes(id, { state: matured })
    expect(row.holdEndedAt).not.toBeNull()
  })

  test('raises an alarm if the chain does not have it', async () => {
    const id = await onHold(kind)
    await fixture.becomes(id, { state })
    fixture.chain.hold = { state: 'none', until: null }
    await fixture.recheck(60_000)
    expect(fixture.alarmsOf(id)).toContain('hold not found on chain')
    expect(await fixture.row(id)).toMatchObject({ state, holdEndedAt: null })
  })

  // guard: a hold does not end before the provider was asked
  test('does not end while the provider cannot be checked', async () => {
    const id = await onHold(kind)
    release()
    await silence()
    await fixture.recheck()
    expect(await fixture.row(id)).toMatchObject({ state, holdEndedAt: null })
    await fixture.control('faults', {})
    await fixture.recheck()
    expect((await fixture.becomes(id, { state: matured })).holdEndedAt).not.toBeNull()
  })

  // guard: another instance takes over from one that was killed while it checked a hold, before the hold ends
  test('is checked again before its end if the instance that checked it was killed', async () => {
    const id = await onHold(kind)
    const { context } = fixture
    holdFor(context.holdMarginMs / 1_000)
    const killed = { ...context, ask: () => new Promise<never>(() => {}) }
    await recheckOnce(killed, 100, { running: new Set() })
    expect((await fixture.row(id))!.refundsCheckedAt).toBeNull()
    await fixture.recheck(context.holdMarginMs / 2)
    expect((await fixture.row(id))!.refundsCheckedAt).not.toBeNull()
  })

  // guard: a hold is extended while the provider does not respond
  test('is extended when the provider does not respond shortly before the end', async () => {
    const id = await onHold(kind)
    const until = holdFor(4)
    await silence()
    await fixture.recheck(0)
    const orders = (await fixture.orders(id)).filter(({ subject }) => subject === 'relay.extend')
    expect(orders.map(({ payload }) => payload)).toMatchObject([{ refId: id, until: String(until) }])
    await fixture.becomes(id, { refundsCheckedAt: null, holdEndedAt: null })
  })

  test('is not extended while there is enough time, or after a response', async () => {
    const early = await onHold(kind)
    holdFor(60)
    await silence()
    await fixture.recheck(0)
    expect(await fixture.subjects(early)).not.toContain('relay.extend')
    await fixture.control('faults', {})
    holdFor(4)
    await fixture.recheck(60_000)
    expect((await fixture.row(early))!.refundsCheckedAt).not.toBeNull()
    expect(await fixture.subjects(early)).not.toContain('relay.extend')
    // The last check was in time, so a later response of the provider changes nothing.
    release()
    await silence()
    await fixture.recheck(6_000)
    await fixture.becomes(early, { state: matured })
  })

  // guard: a hold does not end while its money is known to be going back
  // guard: a hold that is known to be in doubt is extended as soon as that is possible
  // guard: a hold is checked as soon as a report puts its money in doubt
  test('is extended half an extension before its end if a refund is known then', async () => {
    const id = await onHold(kind)
    const until = holdFor(60)
    await fixture.recheck(0)
    fixture.time.aheadMs += 31_000
    await fixture.control(`payments/${id}/refund`, { status: 'PENDING' })
    await fixture.list()
    await fixture.recheck(0)
    expect(await fixture.subjects(id)).toContain('relay.extend')
    expect(until * 1_000 - fixture.context.clock()).toBeGreaterThan(fixture.context.holdMarginMs)
    // The chain has executed the extension, and leaves more than half of it.
    const extensions = async () => (await fixture.subjects(id)).filter((one) => one === 'relay.extend').length
    const ordered = await extensions()
    holdFor(60)
    await fixture.recheck(20_000)
    expect(await extensions()).toBe(ordered)
    await fixture.recheck(20_000)
    expect(await extensions()).toBeGreaterThan(ordered)
  })

  test('of days is read again every hour, because the chain may be ahead by then', async () => {
    const id = await onHold(kind)
    holdFor(3 * 86_400)
    await fixture.recheck()
    await fixture.becomes(id, { state, holdEndedAt: null })
    release() // The chain's clock has passed the end of the hold; ours has not.
    await fixture.recheck(fixture.context.holdRecheckMs)
    expect((await fixture.becomes(id, { state: matured })).holdEndedAt).not.toBeNull()
  })

  // guard: a response counts only for the hold end it was requested for
  test('needs another response before its new end if it was extended after one', async () => {
    const id = await onHold(kind)
    holdFor(4)
    await fixture.recheck(0)
    await waitUntil('the last check', async () => (await fixture.row(id))!.refundsCheckedAt !== null)
    await silence()
    await fixture.recheck(1_000)
    expect(await fixture.subjects(id)).toContain('relay.extend')
    expect(await fixture.row(id)).toMatchObject({ refundsCheckedAt: null })
    release()
    await fixture.recheck(6_000)
    expect(await fixture.row(id)).toMatchObject({ state, holdEndedAt: null })
  })

  test('ends in a revocation after a refund without a webhook', async () => {
    const id = await onHold(kind)
    holdFor(60)
    await fixture.control('faults', { webhooks: { drop: 1 } })
    await fixture.control(`payments/${id}/refund`)
    await fixture.recheck()
    await fixture.becomes(id, { state: 'revoking', reason: 'refunded_during_hold' })
    const [order] = (await fixture.orders(id)).filter(({ subject }) => subject === 'relay.revoke')
    expect(order!.payload).toMatchObject({ refId: id, of: kind })
    await fixture.settle('revoke', id)
    await fixture.becomes(id, { state: 'revoked' })
  })

  // guard: a 404 for refunds is inconclusive until the list was read
  test('does not end after a 404 for refunds unless the list of transactions was read', async () => {
    const id = await onHold(kind)
    fixture.time.aheadMs += 10_000
    holdFor(4)
    await fixture.control('faults', { api: { hideRefunds: 1, forbidList: 1 } })
    await fixture.recheck(0)
    expect(await fixture.subjects(id)).toContain('relay.extend')
    await fixture.becomes(id, { refundsCheckedAt: null })
    await fixture.control('faults', { api: { hideRefunds: 1 } })
    await fixture.recheck(6_000)
    expect((await fixture.row(id))!.refundsCheckedAt).not.toBeNull()
  })

  test('ends in a revocation after a refund that only the list has', async () => {
    const id = await onHold(kind)
    fixture.time.aheadMs += 10_000
    holdFor(60)
    await fixture.control('faults', { api: { hideRefunds: 1 }, webhooks: { drop: 1 } })
    await fixture.control(`payments/${id}/refund`)
    await fixture.recheck()
    await fixture.becomes(id, {
      state: 'revoking',
      refundedMinor: (await fixture.row(id))!.fiatMinor,
    })
  })
})

test('a hold whose first check the budget did not allow is checked an hour later', async () => {
  fixture.time.aheadMs += 10_000
  const ids = [await onHold('topup'), await onHold('topup')]
  holdFor(3 * 86_400)
  await fixture.control('faults', { webhooks: { drop: 1 } })
  for (const id of ids) await fixture.control(`payments/${id}/refund`)
  const found = async () => {
    fixture.time.aheadMs += fixture.context.holdRecheckMs
    await recheckOnce(fixture.context, 1)
    const states = await Promise.all(ids.map(async (id) => (await fixture.row(id))!.state))
    return states.filter((state) => state === 'revoking').length
  }
  expect(await found()).toBe(1)
  expect(await found()).toBe(2)
})

describe('a partial refund that fails within the hold', () => {
  /** AUSD that is left after a fifth went back. */
  const leftMicro = 2_461_538n
  async function revoking() {
    const id = await onHold('topup')
    const made = await fixture.control(`payments/${id}/refund`, { amount: 10_000 })
    await fixture.becomes(id, { state: 'revoking', leftMicro })
    return { id, bounce: () => fixture.control(`refunds/${made.id}/fail`).then(fixture.list) }
  }

  test('after its revocation leads to a full revocation, and the payment is applied again', async () => {
    const { id, bounce } = await revoking()
    await fixture.settle('revoke', `${id}:${leftMicro}`)
    await fixture.becomes(id, { state: 'held', onchainMicro: leftMicro })
    await bounce()
    await fixture.becomes(id, { state: 'revoking', reason: 'refund_undone', leftMicro: 0n })
    await fixture.settle('revoke', id)
    await fixture.becomes(id, { state: 'paid', refSequence: 1, onchainMicro: 3_076_923n })
  })

  test('before its revocation is final leads to a full revocation afterwards, and the payment is applied again', async () => {
    const { id, bounce } = await revoking()
    await bounce()
    await fixture.becomes(id, { state: 'revoking', refundedMinor: 0n, leftMicro })
    await fixture.settle('revoke', `${id}:${leftMicro}`)
    await fixture.becomes(id, { state: 'revoking', reason: 'refund_undone', leftMicro: 0n })
    await fixture.settle('revoke', id)
    await fixture.becomes(id, { state: 'paid', refSequence: 1, onchainMicro: 3_076_923n })
  })
})

describe('the remainder on hold after a partial revocation', () => {
  async function inPart() {
    const id = await onHold('topup')
    const before = (await fixture.row(id))!
    await fixture.control(`payments/${id}/refund`, { amount: 10_000 })
    const { leftMicro } = await fixture.becomes(id, { state: 'revoking' })
    return { id, before, revoke: () => fixture.settle('revoke', `${id}:${leftMicro}`) }
  }

  test('matures after a new check finds no further refund', async () => {
    const { id, revoke } = await inPart()
    await revoke()
    await fixture.becomes(id, { state: 'held', refundsCheckedAt: null })
    holdFor(4)
    await fixture.recheck(20_000)
    expect((await fixture.row(id))!.refundsCheckedAt).not.toBeNull()
    release()
    await fixture.recheck(20_000)
    await fixture.becomes(id, { state: 'credited', reason: 'refunded_in_part' })
    expect(await isFrozen(id)).toBe(false)
  })

  // guard: a check of a hold that began before a part was revoked clears nothing
  test('is not cleared by a check that began before it', async () => {
    const { id, before, revoke } = await inPart()
    await revoke()
    await fixture.becomes(id, { state: 'held' })
    holdFor(4)
    fixture.time.aheadMs += 10_000
    await checkHold(fixture.context, before)
    expect((await fixture.row(id))!.refundsCheckedAt).toBeNull()
  })

  test('keeps its wallet frozen if the hold could not be kept', async () => {
    const { id, revoke } = await inPart()
    release()
    await fixture.recheck(60_000)
    expect(await isFrozen(id)).toBe(true)
    await revoke()
    await fixture.becomes(id, { state: 'held' })
    expect(await isFrozen(id)).toBe(true)
    release()
    await fixture.recheck(20_000)
    await fixture.becomes(id, { state: 'credited' })
    expect(await isFrozen(id)).toBe(false)
  })
})

describe('a settlement applied again after a full revocation', () => {
  test('repays at once, under a new ref and with the time of the payment', async () => {
    const id = await onHold('settlement')
    const { paidAt, ausdMicro, fiatMinor } = (await fixture.row(id))!
    await fixture.control(`payments/${id}/refund`, { amount: 10_000 })
    await fixture.becomes(id, { state: 'revoking' })
    await fixture.settle('revoke', id)
    await fixture.becomes(id, { state: 'paid', refSequence: 1 })
    const rest = (ausdMicro * (fiatMinor - 10_000n)) / fiatMinor
    const repays = (await fixture.orders(id)).filter(({ subject }) => subject === 'relay.repay')
    const seconds = String(Math.floor(paidAt!.getTime() / 1_000))
    expect(repays.map(({ payload }) => payload)).toMatchObject([
      { refId: id, ausd: String(ausdMicro), held: true, paidAt: seconds },
      { refId: `${id}.1`, ausd: String(rest), held: true, paidAt: seconds },
    ])
    await fixture.settle('repay', `${id}.1`)
    await fixture.becomes(id, { state: 'repaid', onchainMicro: rest })
    const settled = (await fixture.orders(id)).filter(({ subject }) => subject === 'payments.settled')
    expect(settled).toHaveLength(2)
  })
})
