import { expect, test } from 'bun:test'
import { type HeadProgress, paceAfter, stands } from './head-progress'

/** Returns the progress after one read of the newest block per second. */
const paceOf = (blocks: readonly bigint[]): HeadProgress =>
  blocks.reduce<HeadProgress | undefined>((pace, block, second) => paceAfter(pace, block, second * 1_000), undefined)!

const endAt = (blocks: readonly bigint[]) => (blocks.length - 1) * 1_000
const isStanding = (blocks: readonly bigint[]) => stands(paceOf(blocks), endAt(blocks), 5_000)

test('a chain head advances again soon after one block number that was far too high', () => {
  const later = Array.from({ length: 12 }, (_, step) => 102n + BigInt(step))
  expect(isStanding([100n, 101n, 1_000_000n, ...later])).toBe(false)
})

test('a chain head stands still while a lagging endpoint alternates with the newest one', () => {
  const still = Array.from({ length: 30 }, (_, step) => (step % 2 === 0 ? 95n : 101n))
  expect(isStanding([100n, 101n, ...still])).toBe(true)
})
