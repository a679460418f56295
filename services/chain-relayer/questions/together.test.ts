import { describe, expect, test } from 'bun:test'
import { together } from './together'

const open = (most = 10) => {
  const groups: number[][] = []
  const double = together(async (items: readonly number[]) => {
    groups.push([...items])
    await Promise.resolve()
    if (items.includes(0)) throw new Error('zero')
    return items.map((item) => 2 * item)
  }, most)
  return { double, groups }
}

describe('what is asked for at the same moment', () => {
  test('goes together, but for the first, and each gets its own answer', async () => {
    const { double, groups } = open()
    expect(await Promise.all([1, 2, 3].map(double))).toEqual([2, 4, 6])
    expect(groups).toEqual([[1], [2, 3]])
  })

  test('goes in groups that are not too large', async () => {
    const { double, groups } = open(2)
    await Promise.all([1, 2, 3, 4].map(double))
    expect(groups).toEqual([[1], [2, 3], [4]])
  })

  test('is done one by one when it fails together', async () => {
    const { double } = open()
    const answers = await Promise.all([1, 2, 0, 3].map((one) => double(one).catch(() => 'failed')))
    expect(answers).toEqual([2, 4, 'failed', 6])
  })
})
