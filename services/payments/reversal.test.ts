import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { waitUntil } from '#infra/local/wait'
import type { RelayKind } from '#shared/messages/relay'
import { openRig, type Rig } from './rig.test'
import { outbox } from './schema.store'
import { wallets as walletsTable } from './wallet.store'

let rig: Rig
beforeAll(async () => {
  rig = await openRig()
}, 60_000)
afterAll(() => rig?.[Symbol.asyncDispose]())
beforeEach(async () => {
  Object.assign(rig.chain, { verified: true, drawn: '3000000', frozen: false })
  await rig.control('faults', {})
})

let count = 0
const anotherWallet = () => `0x${(++count).toString(16).padStart(40, 'c')}`
const becomes = (id: string, want: object) =>
  waitUntil(`${id} being as wanted`, async () => {
    const row = await rig.row(id)
    return row && Object.entries(want).every(([key, value]) => row[key as 'id'] === value) && row
  })
const isFrozen = (wallet: string) =>
  waitUntil(`${wallet} being frozen`, async () => (await rig.walletRow(wallet))?.frozen)
const freezes = async (wallet: string) => {
  const sent = await rig.database.read((db) => db.select().from(outbox).orderBy(outbox.position))
  return sent
    .filter(({ subject }) => subject === 'relay.freeze')
    .map(({ payload }) => payload as { wallet: string; frozen: boolean; revision: string })
    .filter((payload) => payload.wallet === wallet)
}
const missingOf = async (wallet: string) =>
  (await rig.reversals())
    .filter((row) => row.wallet === wallet && row.clearedAt === null)
    .reduce((sum, row) => sum + row.lostMicro - row.madeGoodMicro, 0n)

type Terms = { channel?: string; amount?: string; kind?: 'topup' | 'settlement' }
async function opened(wallet: string, { amount = '50000', kind = 'topup' }: Terms = {}) {
  const quoteId = rig.quote()
  const answer =
    kind === 'topup'
      ? await rig.topup({ wallet, amount, method: 'qr', quoteId })
      : await rig.settlement({ wallet, quoteId })
  return answer.ok!.paymentId
}
async function credited(wallet: string, terms: Terms = {}): Promise<string> {
  const id = await opened(wallet, terms)
  const { channel = 'QRIS', kind = 'topup' } = terms
  await rig.control(`sessions/${id}/pay`, { channel_code: channel, force: true })
  await becomes(id, { state: 'paid' })
  const order: RelayKind = kind === 'topup' ? 'credit' : 'repay'
  await rig.settle(order, id)
  return id
}
const refund = (id: string, body: object = {}) => rig.control(`payments/${id}/refund`, body)

describe('money taken back after its hold', () => {
  test.each(['topup', 'settlement'] as const)('of a %s freezes the wallet', async (kind) => {
    const wallet = anotherWallet()
    const id = await credited(wallet, { kind })
    await refund(id)
    await becomes(id, { state: 'review', reason: 'refunded_after_credit' })
    await isFrozen(wallet)
    expect(await freezes(wallet)).toMatchObject([{ wallet, frozen: true }])
    expect(await missingOf(wallet)).toBe((await rig.row(id))!.ausdMicro)
  })

  test('in two parts is missing in two parts, and freezes once', async () => {
    const wallet = anotherWallet()
    const id = await credited(wallet)
    await refund(id, { amount: 20_000 })
    await isFrozen(wallet)
    expect(await missingOf(wallet)).toBe(1_230_770n)
    await refund(id, { amount: 30_000 })
    await waitUntil('all being missing', async () => (await missingOf(wallet)) === 3_076_923n)
    expect((await freezes(wallet)).length).toBe(1)
  })

  test('by a revocation that came too late freezes too', async () => {
    const wallet = anotherWallet()
    const id = await credited(wallet, { channel: 'CARDS' })
    await refund(id)
    await becomes(id, { state: 'revoking' })
    await rig.settle('revoke', id, true)
    await becomes(id, { state: 'review', reason: 'revoke_failed' })
    await isFrozen(wallet)
    expect(await missingOf(wallet)).toBe(3_076_923n)
  })

  test('by a chargeback, which no webhook tells, is found in the list', async () => {
    const wallet = anotherWallet()
    const id = await credited(wallet)
    await rig.control(`payments/${id}/chargeback`)
    await rig.list()
    await becomes(id, { state: 'review', reason: 'refunded_after_credit' })
    await isFrozen(wallet)
    await rig.list()
    expect(await missingOf(wallet)).toBe(3_076_923n)
  })

  test('while a second payment waits for a person freezes all the same', async () => {
    const wallet = anotherWallet()
    const id = await credited(wallet)
    await rig.control(`sessions/${id}/pay`, { channel_code: 'QRIS', force: true }).catch(() => {})
    await refund(id)
    await isFrozen(wallet)
  })
})

describe('nobody is frozen by', () => {
  test('a refund before the credit', async () => {
    const wallet = anotherWallet()
    await rig.control('faults', { webhooks: { only: ['refund.succeeded'] } })
    const id = await opened(wallet)
    await rig.control(`sessions/${id}/pay`, { channel_code: 'CARDS', force: true })
    await refund(id)
    await becomes(id, { state: 'refunded' })
    expect(await rig.walletRow(wallet)).toBeUndefined()
  })

  test('a refund of money that was never credited', async () => {
    const wallet = anotherWallet()
    await rig.control('faults', { api: { wrongAmount: 1 } })
    const id = await opened(wallet)
    await rig.control(`sessions/${id}/pay`, { channel_code: 'QRIS' })
    await becomes(id, { state: 'review', reason: 'amount_differs' })
    await rig.control('faults', {})
    await refund(id)
    await waitUntil('the refund being counted', async () => (await rig.row(id))!.refundedMinor > 0n)
    expect(await rig.walletRow(wallet)).toBeUndefined()
  })

  test('a refund that we ordered ourselves', async () => {
    const wallet = anotherWallet()
    const id = await credited(wallet)
    await refund(id, { reference_id: `ordered-${id}`, amount: 20_000 })
    await waitUntil('the refund being counted', async () => (await rig.row(id))!.refundedMinor > 0n)
    expect(await rig.row(id)).toMatchObject({ state: 'credited', waivedMicro: 1_230_770n })
    expect(await rig.walletRow(wallet)).toBeUndefined()
    // What somebody else takes back of the rest is another matter.
    await refund(id, { amount: 30_000 })
    await isFrozen(wallet)
    expect(await missingOf(wallet)).toBe(1_846_153n)
  })
})

describe('a frozen wallet', () => {
  async function frozen() {
    const wallet = anotherWallet()
    const id = await credited(wallet)
    await refund(id)
    await isFrozen(wallet)
    return wallet
  }

  test('is refused cards and nothing else, and its quote stays unused', async () => {
    const wallet = await frozen()
    const quoteId = rig.quote()
    const asked = { wallet, amount: '50000', quoteId }
    expect(await rig.topup({ ...asked, method: 'card' })).toEqual({ refused: 'wallet_frozen' })
    expect(await rig.topup({ ...asked, method: 'bank' })).toHaveProperty('ok')
    expect(await rig.settlement({ wallet, quoteId: rig.quote() })).toHaveProperty('ok')
  })

  test('is refused cards also when only the chain says that it is frozen', async () => {
    rig.chain.frozen = true
    const asked = { wallet: anotherWallet(), amount: '50000', quoteId: rig.quote() }
    expect(await rig.topup({ ...asked, method: 'card' })).toEqual({ refused: 'wallet_frozen' })
  })

  test('makes good by the very sum that is missing; the rest is credited', async () => {
    const wallet = await frozen()
    const first = await opened(wallet, { amount: '20000' })
    await rig.control(`sessions/${first}/pay`, { channel_code: 'QRIS' })
    await becomes(first, { state: 'credited', reason: 'made_good', liveMicro: 0n })
    expect((await rig.orders(first)).map(({ subject }) => subject)).not.toContain('relay.credit')
    expect(await missingOf(wallet)).toBe(3_076_923n - 1_230_769n)
    expect((await rig.walletRow(wallet))!.frozen).toBe(true)
    const second = await opened(wallet, { amount: '100000' })
    await rig.control(`sessions/${second}/pay`, {
      channel_code: 'BCA_VIRTUAL_ACCOUNT',
      force: true,
    })
    const row = await becomes(second, { state: 'paid', reason: 'made_good' })
    expect([row.offsetMicro, row.liveMicro]).toEqual([1_846_154n, 4_307_692n])
    const [order] = (await rig.orders(second)).filter(({ subject }) => subject === 'relay.credit')
    expect(order!.payload).toMatchObject({ ausd: '4307692', held: false })
    expect(await missingOf(wallet)).toBe(0n)
    expect((await freezes(wallet)).map(({ frozen }) => frozen)).toEqual([true, false])
    const [on, off] = await freezes(wallet)
    expect(BigInt(off!.revision)).toBeGreaterThan(BigInt(on!.revision))
  })

  test('makes nothing good by a channel whose money could be taken back in turn', async () => {
    const wallet = await frozen()
    const id = await credited(wallet, { channel: 'DANA' })
    await becomes(id, { state: 'held', offsetMicro: 0n, liveMicro: 3_076_923n })
    expect((await rig.walletRow(wallet))!.frozen).toBe(true)
  })

  test('whose making good is taken back is missing it again', async () => {
    const wallet = await frozen()
    const id = await opened(wallet)
    await rig.control(`sessions/${id}/pay`, { channel_code: 'QRIS' })
    await becomes(id, { state: 'credited', reason: 'made_good' })
    expect((await rig.walletRow(wallet))!.frozen).toBe(false)
    await refund(id)
    await isFrozen(wallet)
    expect(await missingOf(wallet)).toBe(3_076_923n)
  })

  test('is freed by an operator, who gives up what is missing', async () => {
    const wallet = await frozen()
    const asked = { clearRequestedAt: new Date(), clearReason: 'bank error, ticket 12' }
    await rig.database.read((db) =>
      db
        .update(walletsTable)
        .set(asked)
        .where(eq(walletsTable.wallet, wallet as `0x${string}`)),
    )
    await rig.sweep()
    expect(await rig.walletRow(wallet)).toMatchObject({ frozen: false, clearRequestedAt: null })
    expect(await missingOf(wallet)).toBe(0n)
    expect((await freezes(wallet)).map(({ frozen }) => frozen)).toEqual([true, false])
  })

  test('is ordered again until the chain has it, under the same revision', async () => {
    const wallet = await frozen()
    await rig.sweep()
    const [first, again] = await freezes(wallet)
    expect(again).toEqual(first!)
    await rig.settle('freeze', `${wallet}:${first!.revision}`)
    const before = (await freezes(wallet)).length
    await rig.sweep(60_000)
    expect((await freezes(wallet)).length).toBe(before)
  })
})
