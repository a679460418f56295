import { describe, expect, test } from 'bun:test'
import type { Kind } from '../operations/operation'
import { batched } from './batch'

describe('a batch', () => {
  const one = (kind: Kind, tries = 0) => ({ kind, tries })
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
})
