import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { waitUntil } from '#infra/local/wait'
import { openRig, type Rig } from './rig.test'

let rig: Rig
beforeAll(async () => {
  rig = await openRig()
}, 60_000)
afterAll(() => rig?.[Symbol.asyncDispose]())
beforeEach(async () => {
  Object.assign(rig.chain, { verified: true, drawn: '3000000', frozen: false })
  await rig.control('faults', {})
})

let wallets = 0
const anotherWallet = () => `0x${(++wallets).toString(16).padStart(40, 'b')}`
const subjects = async (id: string) => (await rig.orders(id)).map(({ subject }) => subject)
const becomes = (id: string, want: object) =>
  waitUntil(`${id} being as wanted`, async () => {
    const row = await rig.row(id)
    return row && Object.entries(want).every(([key, value]) => row[key as 'id'] === value) && row
  })
/** The chain holds it for so many more seconds. */
const holdFor = (seconds: number) => {
  const until = Math.floor(rig.context.clock() / 1_000) + seconds
  rig.chain.hold = { state: 'held', until }
  return until
}
const release = () => {
  rig.chain.hold = { state: 'released', until: Math.floor(rig.context.clock() / 1_000) - 1 }
}
const silence = () => rig.control('faults', { api: { errorRate: 1 }, webhooks: { drop: 1 } })

type Kind = 'topup' | 'settlement'
async function onHold(kind: Kind): Promise<string> {
  const wallet = anotherWallet()
  const quoteId = rig.quote()
  const answer =
    kind === 'topup'
      ? await rig.topup({ wallet, amount: '50000', method: 'card', quoteId })
      : await rig.settlement({ wallet, quoteId })
  const id = answer.ok!.paymentId
  await rig.control(`sessions/${id}/pay`, { channel_code: 'CARDS', force: true })
  await becomes(id, { state: 'paid', held: true })
  await rig.settle(kind === 'topup' ? 'credit' : 'repay', id)
  return id
}

describe.each([
  ['topup', 'held', 'credited'],
  ['settlement', 'repaid', 'repaid'],
] as const)('a %s on hold', (kind, state, matured) => {
  test('matures when the chain released it and the provider was asked', async () => {
    const id = await onHold(kind)
    holdFor(60)
    await rig.sweep()
    await becomes(id, { state, holdEndedAt: null })
    release()
    await rig.sweep()
    const row = await becomes(id, { state: matured })
    expect(row.holdEndedAt).not.toBeNull()
  })

  test('does not mature while the provider cannot be asked', async () => {
    const id = await onHold(kind)
    release()
    await silence()
    await rig.sweep()
    await becomes(id, { state, holdEndedAt: null })
    await rig.control('faults', {})
    await rig.sweep()
    expect((await becomes(id, { state: matured })).holdEndedAt).not.toBeNull()
  })

  test('is extended when the provider is silent shortly before the end', async () => {
    const id = await onHold(kind)
    const until = holdFor(4)
    await silence()
    await rig.sweep(0)
    const orders = (await rig.orders(id)).filter(({ subject }) => subject === 'relay.extend')
    expect(orders.map(({ payload }) => payload)).toMatchObject([
      { refId: id, until: String(until) },
    ])
    await becomes(id, { clearedAt: null, holdEndedAt: null })
  })

  test('is not extended when there is time enough, or an answer', async () => {
    const early = await onHold(kind)
    holdFor(60)
    await silence()
    await rig.sweep(0)
    expect(await subjects(early)).not.toContain('relay.extend')
    await rig.control('faults', {})
    holdFor(4)
    await rig.sweep()
    expect((await rig.row(early))!.clearedAt).not.toBeNull()
    expect(await subjects(early)).not.toContain('relay.extend')
    // Asked for the last time in time: what the provider says after the end changes nothing.
    release()
    await silence()
    await rig.sweep(6_000)
    await becomes(early, { state: matured })
  })

  test('that was extended after an answer wants another one before its new end', async () => {
    const id = await onHold(kind)
    holdFor(4)
    await rig.sweep(0)
    await waitUntil('the last look', async () => (await rig.row(id))!.clearedAt !== null)
    await silence()
    await rig.sweep(1_000)
    expect(await subjects(id)).toContain('relay.extend')
    await becomes(id, { clearedAt: null })
    release()
    await rig.sweep(6_000)
    await becomes(id, { state, holdEndedAt: null })
  })

  test('whose refund nobody told of is taken back', async () => {
    const id = await onHold(kind)
    holdFor(60)
    await rig.control('faults', { webhooks: { drop: 1 } })
    await rig.control(`payments/${id}/refund`)
    await rig.sweep()
    await becomes(id, { state: 'revoking', reason: 'refunded_during_hold' })
    const [order] = (await rig.orders(id)).filter(({ subject }) => subject === 'relay.revoke')
    expect(order!.payload).toMatchObject({ refId: id, of: kind })
    await rig.settle('revoke', id)
    await becomes(id, { state: 'revoked' })
  })

  test('a 404 for its refunds is no answer without a look at the list of transactions', async () => {
    const id = await onHold(kind)
    holdFor(4)
    await rig.control('faults', { api: { hideRefunds: 1, forbidList: 1 } })
    await rig.sweep(0)
    expect(await subjects(id)).toContain('relay.extend')
    await becomes(id, { clearedAt: null })
    await rig.control('faults', { api: { hideRefunds: 1 } })
    await rig.sweep()
    expect((await rig.row(id))!.clearedAt).not.toBeNull()
  })

  test('a refund that only the list knows is taken back', async () => {
    const id = await onHold(kind)
    holdFor(60)
    await rig.control('faults', { api: { hideRefunds: 1 }, webhooks: { drop: 1 } })
    await rig.control(`payments/${id}/refund`)
    await rig.sweep()
    await becomes(id, { state: 'revoking', refundedMinor: (await rig.row(id))!.fiatMinor })
  })
})

describe('the part of a settlement that was not refunded', () => {
  test('repays at once, under a ref of its own and with the time of the payment', async () => {
    const id = await onHold('settlement')
    const { paidAt, ausdMicro, fiatMinor } = (await rig.row(id))!
    await rig.control(`payments/${id}/refund`, { amount: 10_000 })
    await becomes(id, { state: 'revoking' })
    await rig.settle('revoke', id)
    await becomes(id, { state: 'paid', part: 1 })
    const rest = (ausdMicro * (fiatMinor - 10_000n)) / fiatMinor
    const repays = (await rig.orders(id)).filter(({ subject }) => subject === 'relay.repay')
    const seconds = String(Math.floor(paidAt!.getTime() / 1_000))
    expect(repays.map(({ payload }) => payload)).toMatchObject([
      { refId: id, ausd: String(ausdMicro), held: true, paidAt: seconds },
      { refId: `${id}.1`, ausd: String(rest), held: true, paidAt: seconds },
    ])
    await rig.settle('repay', `${id}.1`)
    await becomes(id, { state: 'repaid', liveMicro: rest })
  })
})
