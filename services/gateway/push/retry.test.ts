import { expect, test } from 'bun:test'
import { attemptsMax, retryAfter } from './retry'

test('an event that is not taken is retried with growing delays, for three days', () => {
  const delays = Array.from({ length: attemptsMax - 1 }, (_, failed) => retryAfter(failed + 1)!)
  expect(delays.slice(0, 7)).toEqual([5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000, 3_600_000])
  expect(delays).toEqual(delays.toSorted((left, right) => left - right))
  const days = delays.reduce((sum, delay) => sum + delay, 0) / 86_400_000
  expect(days).toBeCloseTo(3, 1)
  expect(retryAfter(attemptsMax)).toBeUndefined()
  expect(retryAfter(attemptsMax + 1)).toBeUndefined()
})
