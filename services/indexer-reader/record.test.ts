import { describe, expect, test } from 'bun:test'
import { mayAnswer } from './record'

const nowMs = 1_000_000_000
const cursor = (state: 'filling' | 'serving' | 'retired', blockAgoMs: number, movedAgoMs: number, complete = true) => ({
  state,
  complete,
  blockTimeSeconds: (nowMs - blockAgoMs) / 1_000,
  movedAt: new Date(nowMs - movedAgoMs),
})

describe('whether the reader may answer', () => {
  test.each([
    ['is given at the head', cursor('serving', 1_000, 300), true],
    ['is given just within the limit', cursor('serving', 15_000, 300), true],
    ['is refused behind the chain', cursor('serving', 17_000, 300), false],
    [
      'is refused when nothing moved, even if the chain is ahead of our clock',
      cursor('serving', -90_000, 15_001),
      false,
    ],
    ['is refused when nothing moved since the clock was set back', cursor('serving', -7_200_000, -7_200_000), false],
    ['is given when the chain is ahead of our clock', cursor('serving', -90_000, 300), true],
    ['is refused from an unfinished projection', cursor('filling', 1_000, 300), false],
    ['is refused from a retired projection', cursor('retired', 1_000, 300), false],
    ['is refused while events are missing', cursor('serving', 1_000, 300, false), false],
    ['is refused while there is nothing', undefined, false],
  ])('%s', (_what, seen, given) => {
    expect(mayAnswer(seen, 15_000, nowMs)).toBe(given)
  })
})
