import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { actors, openContractsFixture, refOf } from '#test/support/contracts'

// The hold outlasts term and grace, so that a default can meet lots that are still held.
const fixture = await openContractsFixture({ holdSeconds: 100_000 })
afterAll(fixture.close)
afterEach(fixture.rewind)

const ana = actors.ana.address
const oneAusd = 1_000_000n
const topUp = (ref: number, amountMicro: bigint, held: boolean) =>
  fixture.send('relayer', 'creditLine', 'topUp', [refOf(ref), ana, amountMicro, held])
const markDefault = () => fixture.send('citra', 'creditLine', 'markDefault', [ana])
const revokeRefusal = (ref: number) =>
  fixture.refusal('relayer', 'creditLine', 'revokeTopUp', [refOf(ref)])
const holdOf = (ref: number) =>
  fixture.client.readContract({
    abi: creditLineAbi,
    address: fixture.deployment.creditLine,
    functionName: 'holdOf',
    args: [refOf(ref)],
  })

/**
 * A debt larger than the matured collateral, which only rounding can bring about: yield makes one
 * share worth one AUSD, and repaying a millionth of an AUSD from collateral burns a whole share.
 */
async function owe(ausd: bigint, lotsOfAusd: readonly bigint[], sharesLeft: bigint) {
  await topUp(1, 1n, false)
  await fixture.send('admin', 'creditLine', 'addYield', [2_000_000n * oneAusd - 2n])
  const surplus = (1_000_000n - 2n * ausd) * oneAusd
  await fixture.send('ana', 'creditLine', 'withdrawCollateral', [surplus, ana])
  for (const [index, lotAusd] of lotsOfAusd.entries()) {
    await topUp(index + 2, lotAusd * oneAusd, true)
  }
  await fixture.send('ana', 'creditLine', 'draw', [ausd * oneAusd, ana])
  for (let burnt = sharesLeft; burnt < 2n * ausd; burnt++) {
    await fixture.send('ana', 'creditLine', 'repayFromCollateral', [1n])
  }
  expect((await fixture.accountOf('ana')).shares).toBe(sharesLeft)
  await fixture.warp(88_201)
}

beforeEach(fixture.checkpoint)

describe('a default with too little matured collateral', () => {
  test('leaves the rest owed, for which later collateral answers', async () => {
    await owe(2n, [], 1n)
    const [marked] = (await markDefault()).events
    expect(marked).toMatchObject({
      eventName: 'DefaultMarked',
      args: { seized: 1_000_002n, stillOwed: 999_995n },
    })
    expect(await fixture.accountOf('ana')).toMatchObject({
      shares: 0n,
      drawn: 999_995n,
      cycles: 1n,
    })
    await topUp(9, 3n * oneAusd, false)
    const out = ['withdrawCollateral', [1n, ana]] as const
    expect(await fixture.refusal('ana', 'creditLine', ...out)).toBe('LimitExceeded')
    const { events } = await fixture.send('citra', 'creditLine', 'seizeMore', [ana, 1n])
    expect(events).toMatchObject([
      { eventName: 'CollateralSeized', args: { amount: 999_995n, shares: 1n, drawnAfter: 0n } },
    ])
    expect(await fixture.refusal('ana', 'creditLine', ...out)).toBe('accepted')
    const again = await fixture.refusal('citra', 'creditLine', 'seizeMore', [ana, 1n])
    expect(again).toBe('NothingOwed')
  })

  test('can be paid off by the account, without a cycle and without forgiveness', async () => {
    await owe(2n, [], 1n)
    await markDefault()
    const { events } = await fixture.send('ana', 'creditLine', 'repay', [2n * oneAusd])
    expect(events.map((one) => one.eventName)).toEqual(['Repaid', 'Transfer'])
    expect(await fixture.accountOf('ana')).toMatchObject({ drawn: 0n, defaulted: true, limit: 0n })
  })

  test('takes held lots in order and only the part it needs of the last', async () => {
    await owe(3n, [1n, 5n, 1n], 1n)
    await markDefault()
    expect(await fixture.accountOf('ana')).toMatchObject({
      drawn: 0n,
      shares: 0n,
      pendingShares: 5n,
    })
    expect(
      await Promise.all([2, 3, 4].map(async (ref) => (await holdOf(ref)).slice(2))),
    ).toMatchObject([
      [1n, expect.anything(), 2],
      [4n, expect.anything(), 1],
      [1n, expect.anything(), 1],
    ])
    expect(await Promise.all([2, 3, 4].map(revokeRefusal))).toEqual([
      'NotHeld',
      'accepted',
      'accepted',
    ])
  })

  test('takes all lots at once when all are needed', async () => {
    await owe(3n, [1n], 1n)
    const { events } = await markDefault()
    expect(events[0]).toMatchObject({ args: { seized: 2_000_009n, stillOwed: 999_986n } })
    expect(await fixture.accountOf('ana')).toMatchObject({ pendingShares: 0n, pendingUntil: 0n })
    expect(await revokeRefusal(2)).toBe('NotHeld')
  })

  test('takes at most 12 lots in a call, and seizeMore goes on', async () => {
    await owe(
      30n,
      Array.from({ length: 30 }, () => 1n),
      5n,
    )
    const [marked] = (await markDefault()).events
    expect(await fixture.accountOf('ana')).toMatchObject({ shares: 0n, pendingShares: 18n })
    expect(marked!.args).toMatchObject({ seized: expect.any(BigInt) })
    const { drawn } = await fixture.accountOf('ana')
    expect(drawn).toBeGreaterThan(8n * oneAusd)
    await fixture.send('citra', 'creditLine', 'seizeMore', [ana, 16n])
    expect(await fixture.accountOf('ana')).toMatchObject({ drawn: 0n, pendingShares: 5n })
  })

  test('is the only state in which seizeMore works', async () => {
    expect(await fixture.refusal('citra', 'creditLine', 'seizeMore', [ana, 1n])).toBe(
      'NotDefaulted',
    )
  })
})
