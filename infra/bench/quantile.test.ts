import { describe, expect, test } from 'bun:test'
import { quantile } from './quantile.ts'

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

describe('a quantile is a value of the sample', () => {
  test.each([
    // sample               q     value
    [[7], 0, 7],
    [[7], 0.5, 7],
    [[7], 1, 7],
    [[1, 2], 0.5, 1],
    [[1, 2], 0.51, 2],
    [[1, 2, 3], 0.5, 2],
    [[3, 1, 2], 0.5, 2],
    [[10, 9, 100], 1, 100],
    [[10, 9, 100], 0, 9],
    [[-1, -2, 0.5], 0.5, -1],
    [[5, 5, 5, 5], 0.99, 5],
    [upTo(100), 0.5, 50],
    [upTo(100), 0.99, 99],
    [upTo(100), 0.991, 100],
    [upTo(1_000), 0.99, 990],
  ])('%j at %d is %d', (sample, q, value) => {
    expect(quantile(sample, q)).toBe(value)
  })

  test('the sample stays in its order', () => {
    const sample = [3, 1, 2]
    quantile(sample, 0.5)
    expect(sample).toEqual([3, 1, 2])
  })

  test.each([
    [[], 0.5],
    [[1], -0.1],
    [[1], 1.1],
    [[1], Number.NaN],
  ])('%j at %d is refused', (sample, q) => {
    expect(() => quantile(sample, q)).toThrow()
  })
})
