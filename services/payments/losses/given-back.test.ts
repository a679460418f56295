import { afterAll, beforeEach, expect, test } from 'bun:test'
import { newWallet, openFixture } from '../test-support'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())
beforeEach(async () => {
  Object.assign(fixture.chain, { verified: true, drawn: '3000000', frozen: false })
  await fixture.control('faults', { webhooks: { drop: 1 }, api: {} })
})

async function paid(wallet: `0x${string}`): Promise<string> {
  const asked = { wallet, quoteId: fixture.quote(), amount: '50000', method: 'qr' } as const
  const id = (await fixture.topup(asked)).ok!.paymentId
  await fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS', force: true })
  await fixture.list()
  if ((await fixture.row(id))!.state === 'paid') await fixture.settle('credit', id)
  await fixture.becomes(id, { state: 'credited' })
  return id
}
const isFrozen = async (wallet: `0x${string}`) => (await fixture.walletRow(wallet))?.frozen ?? false

async function repaidNeedlessly() {
  const wallet = newWallet()
  const id = await paid(wallet)
  const { id: dispute } = await fixture.control(`payments/${id}/chargeback`)
  const turns = async (status: string, refundedMinor: bigint) => {
    await fixture.control(`chargebacks/${dispute}`, { status })
    await fixture.list()
    await fixture.becomes(id, { refundedMinor })
  }
  await turns('SUCCESS', 50_000n)
  expect(await isFrozen(wallet)).toBe(true)
  await paid(wallet)
  await turns('REVERSED', 0n)
  expect(await isFrozen(wallet)).toBe(false)
  return { id, wallet, turns }
}

test('a dispute that is lost again costs nothing more while the wallet has repaid it', async () => {
  const { wallet, turns } = await repaidNeedlessly()
  await turns('SUCCESS', 50_000n)
  expect(await isFrozen(wallet)).toBe(false)
})

// guard: what was given back of a repaid loss is missing again if the loss comes about
test('security: a dispute that is lost again freezes the wallet if its repayment was given back', async () => {
  const { id, wallet, turns } = await repaidNeedlessly()
  expect((await fixture.giveBack(id, '3076923')).ok).toHaveProperty('done')
  await turns('SUCCESS', 50_000n)
  expect(await isFrozen(wallet)).toBe(true)
  await paid(wallet)
  expect(await isFrozen(wallet)).toBe(false)
})

test('an unneeded repayment is returned once, and only in its exact amount', async () => {
  const { id } = await repaidNeedlessly()
  expect((await fixture.giveBack(id, '3076922')).ok).toHaveProperty('refused')
  expect((await fixture.giveBack(id, '3076923')).ok).toHaveProperty('done')
  expect((await fixture.giveBack(id, '3076923')).ok).toHaveProperty('done')
  expect((await fixture.reversals()).find(({ paymentId }) => paymentId === id)).toMatchObject({
    lostMicro: 0n,
    madeGoodMicro: 0n,
    givenBackMicro: 3_076_923n,
  })
  expect((await fixture.giveBack('pay_unknown', '1')).ok).toHaveProperty('refused')
})
