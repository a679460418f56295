import { expect, test } from 'bun:test'
import { openReadBatcher } from './read-batcher'

async function readsWithin(readTurn: () => Promise<void>, forMs: number): Promise<number> {
  const endAt = performance.now() + forMs
  let reads = 0
  while (performance.now() < endAt) {
    await readTurn()
    reads += 1
  }
  return reads
}
const never = 2 ** 30

test('the first caller reads at once, and callers who come together share one read', async () => {
  const readTurn = openReadBatcher({ readsTogetherMs: 60, readsEveryMs: 60 }, () => 1_000)
  await readTurn() // The wait ends although no time passes.
  const [second, third] = [readTurn(), readTurn()]
  expect(second).toBe(third)
  await second
  expect(readTurn()).not.toBe(second)
})

test('after a quiet moment, callers need not wait for the interval of a busy time', async () => {
  const readTurn = openReadBatcher({ readsTogetherMs: 0, readsEveryMs: never }, () => 1_000)
  for (let read = 0; read < 8; read++) await readTurn()
})

test('under load there is no more than one read per interval, and those saved', async () => {
  const readTurn = openReadBatcher({ readsTogetherMs: 1, readsEveryMs: 50 }, () => performance.now())
  const startedAt = performance.now()
  const reads = await readsWithin(readTurn, 1_000)
  const tookMs = performance.now() - startedAt
  expect(reads).toBeLessThanOrEqual(tookMs / 50 + 10)
})

test('a clock that is set back makes no caller wait longer', async () => {
  let now = 1_000_000
  const readTurn = openReadBatcher({ readsTogetherMs: 20, readsEveryMs: 20 }, () => now)
  await readTurn()
  now = 0
  await readTurn() // The wait ends although the clock lost a quarter of an hour.
})
