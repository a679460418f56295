import { describe, expect, test } from 'bun:test'
import { quantile } from './quantile'

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

describe('a quantile is a value of the sample', () => {
  test.each([
    ['one value', 0, 7, [7]],
    ['one value', 0.5, 7, [7]],
    ['one value', 1, 7, [7]],
    ['1, 2', 0.5, 1, [1, 2]],
    ['1, 2', 0.51, 2, [1, 2]],
    ['1, 2, 3', 0.5, 2, [1, 2, 3]],
    ['3, 1, 2', 0.5, 2, [3, 1, 2]],
    ['10, 9, 100, as numbers', 1, 100, [10, 9, 100]],
    ['10, 9, 100, as numbers', 0, 9, [10, 9, 100]],
    ['-1, -2, 0.5', 0.5, -1, [-1, -2, 0.5]],
    ['four times 5', 0.99, 5, [5, 5, 5, 5]],
    ['1 to 100', 0.5, 50, upTo(100)],
    ['1 to 100', 0.99, 99, upTo(100)],
    ['1 to 100', 0.991, 100, upTo(100)],
    ['1 to 1000', 0.99, 990, upTo(1_000)],
  ])('%s: at %d it is %d', (_, q, value, sample) => {
    expect(quantile(sample, q)).toBe(value)
  })

  test('quantile does not reorder the sample', () => {
    const sample = [3, 1, 2]
    quantile(sample, 0.5)
    expect(sample).toEqual([3, 1, 2])
  })

  test.each([
    [[], 0.5],
    [[1], -0.1],
    [[1], 1.1],
    [[1], Number.NaN],
  ])('quantile refuses %j at %d', (sample, q) => {
    expect(() => quantile(sample, q)).toThrow()
  })
})
