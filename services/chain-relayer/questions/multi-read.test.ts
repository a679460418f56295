import { describe, expect, test } from 'bun:test'
import { multiRead } from './multi-read'

const open = (most = 10) => {
  const groups: number[][] = []
  const double = multiRead(async (items: readonly number[]) => {
    groups.push([...items])
    await Promise.resolve()
    if (items.includes(0)) throw new Error('zero')
    return items.map((item) => 2 * item)
  }, most)
  return { double, groups }
}

describe('concurrent reads', () => {
  test('share one call, except the first, and each gets its own result', async () => {
    const { double, groups } = open()
    expect(await Promise.all([1, 2, 3].map(double))).toEqual([2, 4, 6])
    expect(groups).toEqual([[1], [2, 3]])
  })

  test('are split into groups of limited size', async () => {
    const { double, groups } = open(2)
    await Promise.all([1, 2, 3, 4].map(double))
    expect(groups).toEqual([[1], [2, 3], [4]])
  })

  test('are repeated one by one after their shared call fails', async () => {
    const { double } = open()
    const answers = await Promise.all([1, 2, 0, 3].map((one) => double(one).catch(() => 'failed')))
    expect(answers).toEqual([2, 4, 'failed', 6])
  })
})
