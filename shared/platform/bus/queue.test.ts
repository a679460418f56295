import { expect, test } from 'bun:test'
import { endOfTurn, openQueues } from '#platform/bus/queue'

test('tasks of one key run one after the other, whatever their result, and concurrently with other keys', async () => {
  const inTurn = openQueues()
  const said: string[] = []
  const first = Promise.withResolvers<void>()
  const begin = (name: string, until?: Promise<void>) => async () => {
    said.push(`${name} begins`)
    await until
    said.push(`${name} ends`)
  }
  const works = [
    inTurn('a', begin('first', first.promise)),
    inTurn('a', begin('second')),
    inTurn('b', begin('other')),
    inTurn(undefined, begin('free')),
  ]
  await Promise.all(works.slice(2))
  expect(said.toSorted()).toEqual(['first begins', 'free begins', 'free ends', 'other begins', 'other ends'])
  said.length = 0
  first.reject(new Error('failed'))
  await expect(works[0]!).rejects.toThrow('failed')
  await works[1]
  expect(said).toEqual(['second begins', 'second ends'])
})

test('all messages of one turn of the event loop are sent together at its end', async () => {
  const said: string[] = []
  const say = async (what: string) => {
    await endOfTurn()
    said.push(what)
  }
  const first = [say('a'), say('b')]
  await Promise.resolve()
  expect(said).toEqual([])
  const late = say('c')
  await Promise.all([...first, late])
  expect(said).toEqual(['a', 'b', 'c'])
  await say('d')
  expect(said).toEqual(['a', 'b', 'c', 'd'])
})
