import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
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

/** Disputes a payment, which is lost at once. */
async function lost(id: string) {
  const { id: dispute } = await fixture.control(`payments/${id}/chargeback`)
  const turns = async (status: string, refundedMinor: bigint) => {
    await fixture.control(`chargebacks/${dispute}`, { status })
    await fixture.list()
    await fixture.becomes(id, { refundedMinor })
  }
  await turns('SUCCESS', 50_000n)
  return { id, turns }
}

async function repaidNeedlessly() {
  const wallet = newWallet()
  const { id, turns } = await lost(await paid(wallet))
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

describe('an unneeded repayment of a wallet that owes for another payment', () => {
  const { readBooks } = booksOf(fixture)
  const sharesOf = async (id: string) => {
    const loss = (await fixture.reversals()).find(({ paymentId }) => paymentId === id)!
    return [loss.lostMicro, loss.madeGoodMicro]
  }
  const isSquare = async (wallet: `0x${string}`, undone: string, ids: readonly string[]) => {
    expect(await isFrozen(wallet)).toBe(false)
    expect((await fixture.giveBack(undone, '3076923')).ok!.refused).toContain('was repaid needlessly')
    const books = await Promise.all([...ids, ...ids.map((id) => `${id}/reversal`)].map(readBooks))
    const sumOf = (name: string) => books.reduce((sum, one) => sum + (one[`${name} AUSD`] ?? 0n), 0n)
    expect([sumOf('clawback'), sumOf('owed_back')]).toEqual([0n, 0n])
  }

  // guard: what a wallet repaid needlessly covers its other losses before it is owed back
  test('covers that loss, so that nothing is given back to a wallet that owes', async () => {
    const wallet = newWallet()
    const ids = [await paid(wallet), await paid(wallet)] as const
    const [first, second] = [await lost(ids[0]), await lost(ids[1])]
    const repaying = await paid(wallet)
    expect(await sharesOf(first.id)).toEqual([3_076_923n, 3_076_923n])
    expect(await isFrozen(wallet)).toBe(true)
    await first.turns('REVERSED', 0n)
    expect([await sharesOf(first.id), await sharesOf(second.id)]).toEqual([
      [0n, 0n],
      [3_076_923n, 3_076_923n],
    ])
    await isSquare(wallet, first.id, [first.id, second.id, repaying])
    await first.turns('SUCCESS', 50_000n)
    expect(await isFrozen(wallet)).toBe(true)
  })

  test('covers a loss that comes later, until an operator gave it back', async () => {
    const { id, repaying, wallet, turns } = await repaidNeedlessly()
    const later = await lost(await paid(wallet))
    await isSquare(wallet, id, [id, later.id, repaying])
    await later.turns('REVERSED', 0n)
    await turns('SUCCESS', 50_000n)
    await isSquare(wallet, later.id, [id, later.id, repaying])
  })
})
