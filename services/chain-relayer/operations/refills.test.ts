import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { dayOf, refillsInAdvance } from '#shared/chain/refill'
import { relayOnce } from '../relay-loop'
import { newRefId, newWallet, openFixture, verify } from '../test-support'
import type { Task } from './operation'

let fixture: Awaited<ReturnType<typeof openFixture>>
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture?.close())

type Refill = Task & { kind: 'drip' }
const refill = (wallet: `0x${string}`, day: number): Refill => ({
  kind: 'drip',
  payload: { wallet, refill: dayOf(Date.UTC(2026, 10, day)) },
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

  test('that wait together are given once', async () => {
    const { context, wallet } = await penniless()
    for (const day of [1, 2, 3]) await fixture.command(refill(wallet, day))
    for (const day of [1, 2, 3]) await fixture.finish(context, refill(wallet, day))
    expect(await balanceOf(wallet)).toBe(context.settings.dripWei)
  })
})
