import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { refillsInAdvance } from '#shared/chain/refill'
import { relayOnce } from '../relay-loop'
import { newRefId, newWallet, openFixture, verify } from '../test-support'
import { orderOf, type Task } from './operation'
import { operations } from './operation.table'

let fixture: Awaited<ReturnType<typeof openFixture>>
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture?.close())

type Refill = Task & { kind: 'drip' }
const refill = (wallet: `0x${string}`, day: number, asked?: string): Refill => ({
  kind: 'drip',
  payload: { wallet, refill: `2026-11-0${day}`, ...(asked && { asked }) },
})
const balanceOf = (address: `0x${string}`) => fixture.chain.getBalance({ address })

/** Returns a verified wallet without native coin, with collateral if it is to have any. */
async function penniless({ ausd = '1000000', verified = true } = {}) {
  const context = await fixture.begin()
  const { address } = await newWallet(fixture, 0n)
  const wallet = address.toLowerCase() as `0x${string}`
  if (verified) {
    await fixture.command(verify(wallet, true, 1n))
    await fixture.finish(context, verify(wallet, true, 1n))
  }
  if (ausd !== '0') {
    const credit: Task = { kind: 'credit', payload: { refId: newRefId(), wallet, ausd, held: false } }
    await fixture.command(credit)
    await fixture.finish(context, credit)
  }
  await sendAway(wallet)
  return { context, wallet }
}
const sendAway = (address: `0x${string}`) => fixture.chain.setBalance({ address, value: 0n })

describe('refills', () => {
  test('are given to a wallet with collateral that cannot pay one withdrawal, once for each order', async () => {
    const { context, wallet } = await penniless()
    await fixture.command(refill(wallet, 1))
    expect(await fixture.finish(context, refill(wallet, 1))).toMatchObject({ state: 'settled' })
    expect(await balanceOf(wallet)).toBe(context.settings.dripWei)
    await sendAway(wallet)
    await fixture.command(refill(wallet, 1))
    await relayOnce(context)
    expect((await fixture.operationOf(refill(wallet, 1))).state).toBe('settled')
    expect(await balanceOf(wallet)).toBe(0n)
  })

  test.each([
    ['without collateral and debt', { ausd: '0' }],
    ['that is not verified', { verified: false }],
  ])('are not given to a wallet %s', async (_, has) => {
    const { context, wallet } = await penniless(has)
    await fixture.command(refill(wallet, 1))
    expect(await fixture.finish(context, refill(wallet, 1))).toMatchObject({ state: 'settled', txHash: null })
    expect(await balanceOf(wallet)).toBe(0n)
  })

  test('are not given to a wallet that can pay one withdrawal', async () => {
    const { context, wallet } = await penniless()
    await fixture.chain.setBalance({ address: wallet, value: context.settings.dripWei / 2n })
    await fixture.command(refill(wallet, 1))
    expect(await fixture.finish(context, refill(wallet, 1))).toMatchObject({ state: 'settled', txHash: null })
  })

  // guard: a wallet gets no more refills than its closed cycles and two
  test('are given twice to a wallet that sends its coin away, and then no more', async () => {
    const { context, wallet } = await penniless()
    let givenWei = 0n
    for (let day = 1; day <= refillsInAdvance + 2; day++) {
      await fixture.command(refill(wallet, day))
      await fixture.finish(context, refill(wallet, day))
      givenWei += await balanceOf(wallet)
      await sendAway(wallet)
    }
    expect(givenWei).toBe(BigInt(refillsInAdvance) * context.settings.dripWei)
  })

  test('that were not due when they were asked for leave the day to one that is', async () => {
    const { context, wallet } = await penniless()
    await fixture.chain.setBalance({ address: wallet, value: context.settings.dripWei / 2n })
    await fixture.command(refill(wallet, 1, '10'))
    expect(await fixture.finish(context, refill(wallet, 1, '10'))).toMatchObject({ state: 'settled', txHash: null })
    await sendAway(wallet)
    await fixture.command(refill(wallet, 1, '10-last'))
    await fixture.finish(context, refill(wallet, 1, '10-last'))
    expect(await balanceOf(wallet)).toBe(context.settings.dripWei)
  })

  // guard: a wallet gets one refill a day
  test('are given once a day, however often they are asked for', async () => {
    const { context, wallet } = await penniless()
    let givenWei = 0n
    for (const asked of ['10-last', '11-last', '12-last']) {
      await fixture.command(refill(wallet, 1, asked))
      await fixture.finish(context, refill(wallet, 1, asked))
      givenWei += await balanceOf(wallet)
      await sendAway(wallet)
    }
    expect(givenWei).toBe(context.settings.dripWei)
  })

  test('are given once if several were stored in the same moment, as after an outage', async () => {
    const { context, wallet } = await penniless()
    const orders = ['10-last', '11-last', '12-last'].map((asked) => refill(wallet, 1, asked))
    for (const order of orders) await fixture.command(order)
    await fixture.database.run((db) =>
      db.update(operations).set({ createdAt: new Date() }).where(eq(operations.wallet, wallet)),
    )
    for (const order of orders) await fixture.finish(context, order)
    expect(await balanceOf(wallet)).toBe(context.settings.dripWei)
  })

  test('that reverted until they failed do not count, except for their day', async () => {
    const { context, wallet } = await penniless()
    const failed = refill(wallet, 1)
    await fixture.command(failed)
    await fixture.finish(context, failed)
    await fixture.database.run((db) =>
      db
        .update(operations)
        .set({ state: 'failed' })
        .where(eq(operations.id, orderOf(failed).id)),
    )
    const given: bigint[] = []
    for (const again of [refill(wallet, 1, '11-last'), refill(wallet, 2), refill(wallet, 3)]) {
      await sendAway(wallet)
      await fixture.command(again)
      await fixture.finish(context, again)
      given.push(await balanceOf(wallet))
    }
    expect(given).toEqual([0n, context.settings.dripWei, context.settings.dripWei])
  })

  test('wait for the first coin of a wallet that is on its way', async () => {
    const { context, wallet } = await penniless()
    const first: Task = { kind: 'drip', payload: { wallet } }
    await fixture.command(first)
    await fixture.command(refill(wallet, 1))
    expect(await fixture.finish(context, refill(wallet, 1))).toMatchObject({ state: 'settled', txHash: null })
    await fixture.finish(context, first)
    expect(await balanceOf(wallet)).toBe(context.settings.dripWei)
  })

  test('that wait together are given once', async () => {
    const { context, wallet } = await penniless()
    for (const day of [1, 2, 3]) await fixture.command(refill(wallet, day))
    for (const day of [1, 2, 3]) await fixture.finish(context, refill(wallet, day))
    expect(await balanceOf(wallet)).toBe(context.settings.dripWei)
  })
})
