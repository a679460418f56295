import { afterAll, beforeEach, expect, test } from 'bun:test'
import { booksOf } from '../ledger/test-support'
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
  const repaying = await paid(wallet)
  await turns('REVERSED', 0n)
  expect(await isFrozen(wallet)).toBe(false)
  return { id, repaying, wallet, turns }
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
  const done = `3.076923 AUSD of ${id} were given back`
  expect((await fixture.giveBack(id, '3076923')).ok).toHaveProperty('done', done)
  expect((await fixture.giveBack(id, '3076923')).ok).toHaveProperty('done', `${done} before`)
  expect((await fixture.reversals()).find(({ paymentId }) => paymentId === id)).toMatchObject({
    lostMicro: 0n,
    madeGoodMicro: 0n,
    givenBackMicro: 3_076_923n,
  })
  expect((await fixture.giveBack('pay_unknown', '1')).ok).toHaveProperty('refused')
})

// guard: what a wallet repaid needlessly is owed back to it in the books
test('an unneeded repayment is owed back in the books, and no receivable is left, until an operator gave it back', async () => {
  const { readBooks } = booksOf(fixture)
  const { id, repaying, turns } = await repaidNeedlessly()
  const booked = async () => {
    const books = await Promise.all([id, `${id}/reversal`, repaying].map(readBooks))
    const sumOf = (name: string) => books.reduce((sum, one) => sum + (one[`${name} AUSD`] ?? 0n), 0n)
    return { receivable: sumOf('clawback'), owed: sumOf('owed_back'), given: sumOf('capital') }
  }
  const owed = { receivable: 0n, owed: -3_076_923n, given: 0n }
  expect(await booked()).toEqual(owed)
  await turns('SUCCESS', 50_000n)
  expect(await booked()).toEqual({ receivable: 0n, owed: 0n, given: 0n })
  await turns('REVERSED', 0n)
  expect(await booked()).toEqual(owed)
  await fixture.giveBack(id, '3076923')
  expect(await booked()).toEqual({ receivable: 0n, owed: 0n, given: -3_076_923n })
})
