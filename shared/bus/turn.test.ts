import { expect, test } from 'bun:test'
import { endOfTurn } from '#shared/bus/turn'

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
