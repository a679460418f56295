import { expect, test } from 'bun:test'
import { replayed, seeded, waitWithin } from './choices'

test('no choice makes a loop look again without a wait, and the plainest makes it wait longest', () => {
  expect(waitWithin(replayed([]), 2_000)).toBe(2_000)
  const random = seeded(1)
  const waits = Array.from({ length: 10_000 }, () => waitWithin(random, 20))
  expect(new Set(waits)).toEqual(new Set(Array.from({ length: 20 }, (_, at) => 20 - at)))
})
