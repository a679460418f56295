import { expect, test } from 'bun:test'
import { openGathering } from './read-batcher'

async function readsWithin(gather: () => Promise<void>, forMs: number): Promise<number> {
  const endAt = performance.now() + forMs
  let reads = 0
  while (performance.now() < endAt) {
    await gather()
    reads += 1
  }
  return reads
}
const never = 2 ** 30

test('the first caller reads at once, and callers who come together share one read', async () => {
  const gather = openGathering({ readsTogetherMs: 60, readsEveryMs: 60 }, () => 1_000)
  await gather() // Ends, although no time passes.
  const [second, third] = [gather(), gather()]
  expect(second).toBe(third)
  await second
  expect(gather()).not.toBe(second)
})

test('after a quiet moment, callers need not wait for the interval of a busy time', async () => {
  const gather = openGathering({ readsTogetherMs: 0, readsEveryMs: never }, () => 1_000)
  for (let read = 0; read < 8; read++) await gather()
})

test('under load there is no more than one read per interval, and those saved', async () => {
  const gather = openGathering({ readsTogetherMs: 1, readsEveryMs: 50 }, () => performance.now())
  const startedAt = performance.now()
  const reads = await readsWithin(gather, 1_000)
  const tookMs = performance.now() - startedAt
  expect(reads).toBeLessThanOrEqual(tookMs / 50 + 10)
})

test('a clock that is set back makes no caller wait longer', async () => {
  let now = 1_000_000
  const gather = openGathering({ readsTogetherMs: 20, readsEveryMs: 20 }, () => now)
  await gather()
  now = 0
  await gather() // Ends, although the clock lost a quarter of an hour.
})
