import { expect, test } from 'bun:test'
import { openGathering } from './read-batcher'

test('the first caller reads at once, and later callers share one read after an interval', async () => {
  await openGathering(2 ** 30, () => 1_000)() // The first caller does not wait.
  let now = 1_000
  const gather = openGathering(60, () => now)
  const startedAt = performance.now()
  await gather()
  const [second, third] = [gather(), gather()]
  expect(second).toBe(third)
  await second
  expect(performance.now() - startedAt).toBeGreaterThan(50)
  now += 60
  expect(gather()).not.toBe(second)
})

test('a clock that is set back makes no caller wait longer', async () => {
  let now = 1_000_000
  const gather = openGathering(20, () => now)
  await gather()
  now = 0
  await gather() // Ends, and not after the quarter of an hour that the clock lost.
})
