import { expect, test } from 'bun:test'
import { gathered } from './gather.ts'

/** Rounds that end when told to. */
const openRounds = () => {
  const rounds: { keys: string[]; end: (value: string) => void; fail: () => void }[] = []
  const ask = gathered<string, string>((keys) => {
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
