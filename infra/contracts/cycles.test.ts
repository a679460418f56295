import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { lateCost } from '#shared/chain/credit-cost'
import { recordingSeconds } from '#shared/chain/recording-seconds'
import { actors, openContractsFixture, refOf } from '#test/support/contracts'

const fixture = await openContractsFixture()
afterAll(fixture.close)
beforeEach(async () => {
  await fixture.checkpoint()
  await topUp(1, 100_000_000n)
})
afterEach(fixture.rewind)

const ana = actors.ana.address
const topUp = (ref: number, amountMicro: bigint, held = false) =>
  fixture.send('relayer', 'creditLine', 'topUp', [refOf(ref), ana, amountMicro, held])
const draw = (amountMicro: bigint) => fixture.send('ana', 'creditLine', 'draw', [amountMicro, ana])
const repay = (amountMicro: bigint) => fixture.send('ana', 'creditLine', 'repay', [amountMicro])
const markDefault = () => fixture.send('citra', 'creditLine', 'markDefault', [ana])
const cycleOf = async (seconds: number) => {
  await draw(50_000_000n)
  await fixture.warp(seconds)
  return repay(50_000_000n)
}
const closing = (sent: Awaited<ReturnType<typeof repay>>) =>
  sent.events.find((one) => one.eventName === 'CycleClosed')?.args

describe('a cycle', () => {
  test.each([
    ['sooner than the minimum', 30, 1, 0n, 5_000n],
    ['within the term', 61, 0, 10n, 5_250n],
    ['on the last day of the term', 1_790, 0, 10n, 5_250n],
    ['after the term', 1_810, 2, 0n, 5_000n],
    ['after the grace, before anyone marked it', recordingSeconds + 88_300, 2, 0n, 5_000n],
  ] as const)('a cycle closed %s (%d s) has outcome %d', async (_case, seconds, outcome, score, ratio) => {
    expect(closing(await cycleOf(seconds))).toMatchObject({
      account: ana,
      number: 1n,
      outcome,
      peakDrawn: 50_000_000n,
      totalRepaid: 50_000_000n,
      scoreAfter: score,
      ratioBpsAfter: ratio,
    })
    expect(await fixture.accountOf('ana')).toMatchObject({ cycles: 1n, score, ratioBps: ratio })
  })

  test('a cycle stays open while anything is owed, and records its peak and all repayments', async () => {
    const opened = await draw(30_000_000n)
    expect(opened.events).toMatchObject([
      { eventName: 'CycleOpened', args: { account: ana, number: 1n } },
      { eventName: 'Drawn', args: { to: ana, amount: 30_000_000n, drawnAfter: 30_000_000n } },
      { eventName: 'Transfer' },
    ])
    expect(closing(await repay(20_000_000n))).toBeUndefined()
    await draw(15_000_000n)
    await fixture.warp(61)
    const closed = await repay(999_000_000n)
    expect(closing(closed)).toMatchObject({ peakDrawn: 30_000_000n, totalRepaid: 45_000_000n })
    expect(closed.events[0]).toMatchObject({
      eventName: 'Repaid',
      args: { ref: refOf(0), account: ana, payer: ana, amount: 25_000_000n, drawnAfter: 0n },
    })
  })

  // guard: a late cycle costs score
  // guard: a late cycle costs ratio
  test('a late cycle lowers score and ratio, but not below their initial values', async () => {
    for (const _ of [1, 2, 3]) await cycleOf(100)
    expect(await fixture.accountOf('ana')).toMatchObject({ score: 30n, ratioBps: 5_750n })
    const late = { scoreAfter: 30n - BigInt(lateCost.score), ratioBpsAfter: 5_750n - lateCost.ratioBps }
    expect(closing(await cycleOf(1_900))).toMatchObject(late)
    expect(late).toEqual({ scoreAfter: 10n, ratioBpsAfter: 5_250n })
    expect(closing(await cycleOf(1_900))).toMatchObject({
      number: 5n,
      scoreAfter: 0n,
      ratioBpsAfter: 5_000n,
    })
  })

  // guard: the ratio has a cap
  test('qualified cycles raise the ratio, but not above its cap', async () => {
    for (let cycle = 0; cycle < 17; cycle++) await cycleOf(61)
    expect(await fixture.accountOf('ana')).toMatchObject({ score: 170n, ratioBps: 9_000n })
    expect((await fixture.accountOf('ana')).limit).toBe(90_000_000n)
  })
})

describe('drawing', () => {
  test.each([
    ['more than the limit', 'ana', 50_000_001n, ana, 'LimitExceeded'],
    ['zero', 'ana', 0n, ana, 'ZeroAmount'],
    ['an unverified account', 'citra', 1n, ana, 'NotVerified'],
    ['more than the pool holds', 'ana', 10n ** 12n, ana, 'InsufficientLiquidity'],
  ] as const)('a draw of or by %s is refused', async (_case, actor, amount, to, refusal) => {
    expect(await fixture.refusal(actor, 'creditLine', 'draw', [amount, to])).toBe(refusal)
  })

  test('a draw is refused once the open cycle is past its term', async () => {
    await draw(10_000_000n)
    await fixture.warp(1_801)
    expect(await fixture.refusal('ana', 'creditLine', 'draw', [1n, ana])).toBe('TermPassed')
  })
})

describe('a default', () => {
  test('a default seizes matured collateral up to the debt, and no held collateral', async () => {
    await draw(50_000_000n)
    await fixture.send('ana', 'creditLine', 'repayFromCollateral', [1_000_000n])
    await fixture.warp(recordingSeconds + 88_201)
    await topUp(2, 20_000_000n, true)
    const marked = await markDefault()
    expect(marked.events).toMatchObject([
      {
        eventName: 'DefaultMarked',
        args: { account: ana, number: 1n, seized: 49_000_000n, stillOwed: 0n },
      },
      {
        eventName: 'CycleClosed',
        args: { outcome: 3, peakDrawn: 50_000_000n, totalRepaid: 50_000_000n, scoreAfter: 0n },
      },
    ])
    expect(await fixture.accountOf('ana')).toMatchObject({
      defaulted: true,
      drawn: 0n,
      limit: 0n,
      collateral: 50_000_000n,
      pendingShares: 20_000_000_000_000n,
    })
    expect(await fixture.refusal('ana', 'creditLine', 'draw', [1n, ana])).toBe('AccountDefaulted')
    await fixture.send('relayer', 'creditLine', 'revokeTopUp', [refOf(2), 0n])
    await fixture.send('ana', 'creditLine', 'withdrawCollateral', [50_000_000n, ana])
  })

  // guard: a default takes the ratio
  test('a default takes score and ratio of the cycles before it', async () => {
    await cycleOf(100)
    expect(await fixture.accountOf('ana')).toMatchObject({ score: 10n, ratioBps: 5_250n })
    await draw(20_000_000n)
    await fixture.warp(recordingSeconds + 1_801 + 86_400)
    await fixture.send('budi', 'creditLine', 'markDefault', [ana])
    expect(await fixture.accountOf('ana')).toMatchObject({ score: 0n, ratioBps: 5_000n })
  })

  test('markDefault is refused without a cycle, before a week after term and grace, and a second time', async () => {
    const refusal = () => fixture.refusal('citra', 'creditLine', 'markDefault', [ana])
    expect(await refusal()).toBe('NothingOwed')
    await draw(50_000_000n)
    await fixture.warp(recordingSeconds + 88_190)
    expect(await refusal()).toBe('TermNotPassed')
    await fixture.warp(15)
    await markDefault()
    expect(await refusal()).toBe('AccountDefaulted')
  })
})
