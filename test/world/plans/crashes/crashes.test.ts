import { describe, expect, test } from 'bun:test'
import { processes } from '#infra/configuration/processes'
import { topup } from '../../people'
import { readOptions } from './options'
import { type Path, paths } from './paths'
import { planOf } from './plan'
import { stackOptionsOf } from './terms'
import { tryKills } from './trial'

const path = (kind: Path['kind'], inPairs?: Path['inPairs']): Path => ({
  kind,
  name: kind,
  boundaries: ['a', 'b', 'c:published:payments.paid'],
  ...(inPairs ? { inPairs } : {}),
  plan: topup(),
})
const some = [path('send'), path('cashout', 'all'), path('settlement', ['b'])]
const plan = (...words: string[]) =>
  planOf(some, readOptions(words)).map(({ kills, path: { kind } }) => `${kind} ${kills.join()}`)

test.each(paths.map(({ name, terms = {} }) => [name, terms] as const))(
  'the services take the settings of %s',
  (_, terms) => {
    const { env = {} } = stackOptionsOf(terms, 'failpoints')
    for (const [service, own] of Object.entries(env)) {
      const fields = processes[service] ?? {}
      for (const [name, value] of Object.entries(own ?? {}))
        expect(() => fields[name]?.parse(String(value))).not.toThrow()
    }
  },
)

describe('the chosen trials', () => {
  test.each([
    ['each boundary of each path', [], 9],
    ['of one kind', ['--path', 'send'], 3],
    ['with a word', ['--only', 'published'], 3],
    ['pairs, of news that is waited for', ['--pairs', '--path', 'cashout'], 4],
    ['pairs with one of those that are wanted', ['--pairs', '--path', 'settlement'], 3],
  ] as const)('%s', (_, words, count) => {
    expect(new Set(plan(...words)).size).toBe(count)
  })

  test('the parts together contain each trial once, in the order of the seed', () => {
    const parts = ['1/3', '2/3', '3/3'].flatMap((part) => plan('--part', part, '--seed', '7'))
    expect(parts.toSorted()).toEqual(plan().toSorted())
    expect(plan('--seed', '7')).toEqual(plan('--seed', '7'))
    expect(plan('--seed', '7')).not.toEqual(plan('--seed', '8'))
  })

  test.each(['--part 4/3', '--path nowhere', '--seed x', '--odd 1', '--only'])('%s is refused', (words) => {
    expect(() => readOptions(words.split(' '))).toThrow()
  })
})

describe('the kills of a trial', () => {
  const worldOf = (...items: string[][]) => {
    let armed: string[] = []
    const pass = (boundary: string) => {
      if (armed[0] === boundary) armed.shift()
    }
    const world = {
      arm: (kills: readonly string[]) => {
        armed = [...kills]
      },
      left: () => armed,
      disarm: () => {},
    }
    const ready = async () => async () => (items.shift() ?? []).forEach(pass)
    return { world, ready }
  }

  test.each([
    ['both in one item', [['a', 'b']], [1, 1], null],
    ['the second in the next item', [['b', 'a'], ['b']], [1, 2], null],
    ['the second never', [['a'], ['a'], ['a']], [1, null], 'never reached b'],
  ] as const)('%s', async (_, items, metIn, fault) => {
    const { world, ready } = worldOf(...items.map((item) => [...item]))
    expect(await tryKills(world, ready, ['a', 'b'])).toMatchObject({ metIn, fault })
  })

  test('an item with a wrong end is a fault of its trial', async () => {
    const { world } = worldOf()
    const ready = async () => () => Promise.reject(new Error('credits: 2 in place of 1'))
    expect(await tryKills(world, ready, ['a'])).toMatchObject({ fault: 'credits: 2 in place of 1' })
  })
})
