import { describe, expect, test } from 'bun:test'
import { assert, bigInt, property } from 'fast-check'
import type { OperationKind } from '../operations/operation'
import { batched, bumped, feesFor, gasMax, isRaise, outbid, raisedGas } from './transaction'

describe('a batch', () => {
  const one = (kind: OperationKind, tries = 0) => ({ kind, tries })
  test.each([
    ['takes no single credit', [one('credit')], 16, [], 1],
    ['takes two credits', [one('credit'), one('credit')], 16, [2], 0],
    ['of two at most leaves one of five alone', Array(5).fill(one('credit')), 2, [2, 2], 1],
    ['takes nothing that failed once', [one('credit'), one('repay', 1), one('repay')], 16, [2], 1],
    ['takes no drips', [one('drip'), one('drip')], 16, [], 2],
    ['takes no freezing', [one('freeze'), one('freeze')], 16, [], 2],
    ['takes an extension and a revocation', [one('extend'), one('revoke')], 16, [2], 0],
    ['of one at most takes nothing', [one('credit'), one('credit')], 1, [], 2],
  ] as const)('%s', (_case, operations, batchMax, sizes, alone) => {
    const { together, alone: single } = batched([...operations], batchMax)
    expect(together.map((group) => group.length)).toEqual([...sizes])
    expect(single).toHaveLength(alone)
  })

  test('has no more operations than can be paid, and leaves alone what cannot be paid with another', () => {
    const five = Array.from({ length: 5 }, () => one('credit'))
    const sizesUpTo = (most: number) => batched(five, 16, (group) => group.length <= most)
    expect(sizesUpTo(2).together.map((group) => group.length)).toEqual([2, 2])
    expect(sizesUpTo(2).alone).toHaveLength(1)
    expect(sizesUpTo(1)).toEqual({ together: [], alone: five })
  })
})

const gwei = 1_000_000_000n

describe('the fees of a first attempt', () => {
  test.each([
    ['no base fee', 0n, 200n * gwei],
    ["Monad's least base fee", 100n * gwei, 400n * gwei],
    ['a local chain', gwei, 200n * gwei],
    ['a crowded chain', 5_000n * gwei, 20_000n * gwei],
  ])('with %s leave fourfold headroom above the floor', (_case, baseFeeWei, maxFeeWei) => {
    expect(feesFor(baseFeeWei)).toEqual({ maxFeeWei, priorityWei: 2n * gwei })
  })
})

describe('a fee bump', () => {
  test('adds a quarter to both fees', () => {
    const next = bumped({ maxFeeWei: 400n * gwei, priorityWei: 2n * gwei }, 100n * gwei)
    expect(next).toEqual({ maxFeeWei: 500n * gwei, priorityWei: (25n * gwei) / 10n })
  })

  test('reaches the fees of a first attempt at the current base fee', () => {
    const next = bumped({ maxFeeWei: 400n * gwei, priorityWei: 2n * gwei }, 1_000n * gwei)
    expect(next.maxFeeWei).toBe(4_000n * gwei)
  })

  test('stops being a raise after at most 40 attempts at one base fee, and is one again at a higher one', () => {
    let fees = feesFor(100n * gwei)
    let attempts = 1
    for (; isRaise(fees, bumped(fees, 100n * gwei)); attempts++) fees = bumped(fees, 100n * gwei)
    expect(attempts).toBeLessThanOrEqual(40)
    expect(isRaise(fees, bumped(fees, 120n * gwei))).toBe(true)
  })

  test('that ignores the cap raises both by a quarter', () => {
    const wei = 800n * gwei
    const next = outbid({ maxFeeWei: wei, priorityWei: wei }, 100n * gwei)
    expect(next).toEqual({ maxFeeWei: 1_000n * gwei, priorityWei: 1_000n * gwei })
  })

  const fee = bigInt({ min: 0n, max: 10n ** 15n })
  test('is always strictly more, a bid a node accepts, and stops growing at its cap', () =>
    assert(
      property(fee, fee, fee, (left, right, baseFeeWei) => {
        const last = left > right ? { maxFeeWei: left, priorityWei: right } : { maxFeeWei: right, priorityWei: left }
        const next = bumped(last, baseFeeWei)
        const cap = baseFeeWei * 40n > 800n * gwei ? baseFeeWei * 40n : 800n * gwei
        expect(next.maxFeeWei > last.maxFeeWei).toBe(true)
        expect(next.priorityWei > last.priorityWei || next.priorityWei === next.maxFeeWei).toBe(true)
        expect(next.priorityWei <= next.maxFeeWei).toBe(true)
        expect(next.maxFeeWei <= cap || next.maxFeeWei === last.maxFeeWei + 1n).toBe(true)
      }),
    ))
})

describe('a gas limit', () => {
  test.each([
    [0, 100_000n],
    [1, 150_000n],
    [2, 200_000n],
    [6, 400_000n],
    [60, 400_000n],
  ])('after %d failed tries is raised by half for each', (tries, gas) => {
    expect(raisedGas(100_000n, tries)).toBe(gas)
  })
  test('never exceeds the maximum of a node', () => {
    expect(raisedGas(29_000_000n, 6)).toBe(gasMax)
  })
})
