import { describe, expect, test } from 'bun:test'
import { batched, mayAnswer } from './record'

const nowMs = 1_000_000_000
const cursor = (
  state: 'filling' | 'serving' | 'retired',
  blockAgoMs: number,
  movedAgoMs: number,
) => ({
  state,
  blockTimeSeconds: (nowMs - blockAgoMs) / 1_000,
  movedAt: new Date(nowMs - movedAgoMs),
})

describe('an answer', () => {
  test.each([
    ['is given at the head', cursor('serving', 1_000, 300), true],
    ['is given just within the limit', cursor('serving', 15_000, 300), true],
    ['is refused behind the chain', cursor('serving', 17_000, 300), false],
    [
      'is refused when nothing moved, even if the chain is ahead of our clock',
      cursor('serving', -90_000, 15_001),
      false,
    ],
    ['is given when the chain is ahead of our clock', cursor('serving', -90_000, 300), true],
    ['is refused from an unfinished projection', cursor('filling', 1_000, 300), false],
    ['is refused from a retired projection', cursor('retired', 1_000, 300), false],
    ['is refused while there is nothing', undefined, false],
  ])('%s', (_what, seen, given) => {
    expect(mayAnswer(seen, 15_000, nowMs)).toBe(given)
  })
})

/** Rounds that end when told to. */
const openRounds = () => {
  const rounds: { keys: string[]; end: (value: string) => void; fail: () => void }[] = []
  const ask = batched<string, string>((keys) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    rounds.push({ keys: [...keys], end: resolve, fail: () => reject(new Error('failed')) })
    return promise
  })
  return { rounds, ask }
}
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('questions of one moment share a round', async () => {
  const { rounds, ask } = openRounds()
  const answers = Promise.all([ask('a'), ask('b'), ask('a')])
  await turn()
  expect(rounds.map((round) => round.keys)).toEqual([['a', 'b']])
  rounds[0]!.end('first')
  expect(await answers).toEqual(['first', 'first', 'first'])
})

test('a question asked during a round waits for the next one', async () => {
  const { rounds, ask } = openRounds()
  const early = ask('a')
  await turn()
  const late = ask('a')
  await turn()
  expect(rounds).toHaveLength(1)
  rounds[0]!.end('before')
  expect(await early).toBe('before')
  await turn()
  rounds[1]!.end('after')
  expect(await late).toBe('after')
})

test('a round that fails fails alone', async () => {
  const { rounds, ask } = openRounds()
  const early = ask('a')
  await turn()
  const late = ask('b')
  rounds[0]!.fail()
  await expect(early).rejects.toThrow('failed')
  await turn()
  rounds[1]!.end('fine')
  expect(await late).toBe('fine')
})
