import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { booksClose } from '../invariants/closing'
import type { Item, Path } from './path'
import { paths } from './paths'
import { isHeardByNobody } from './plan'
import { tryKills } from './trial'
import { openWorld, type World } from './world'

/** So many processes die on the way of one item: each restart is dear, and each item takes seconds. */
const killsMax = 5

const quick = paths.filter(({ isSlow }) => !isSlow)

/**
 * The boundaries of each path that none before it passes, so that everyone kills once.
 * `bun run crashes` kills at each on every path.
 */
const firstMet: ReadonlyMap<Path, readonly string[]> = (() => {
  const seen = new Set<string>()
  return new Map(
    quick.map((path) => {
      const waited = path.boundaries.filter((boundary) => !isHeardByNobody(boundary))
      const own = waited.filter((boundary) => !seen.has(boundary))
      for (const boundary of own) seen.add(boundary)
      return [path, own]
    }),
  )
})()

/**
 * Kills at every boundary that these kinds of paths are the first to pass, on one stack. Answers how to
 * get it, for what else a suite does there.
 */
export function diesEverywhere(...kinds: readonly Path['kind'][]): () => World {
  let world: World
  beforeAll(async () => {
    world = await openWorld()
  })
  afterAll(() => world?.[Symbol.asyncDispose]())

  const own = quick.filter((path) => kinds.includes(path.kind) && firstMet.get(path)!.length > 0)
  describe.each(own.map((path) => [path.name, path] as const))(
    'everything of a %s happens exactly once, though somebody dies',
    (_, path) => {
      let ready: () => Promise<Item>
      beforeAll(async () => {
        ready = await path.begin(world)
      })
      afterAll(() => world.outside.calm())

      const handfuls = inHandfuls(firstMet.get(path)!)
      test.each(handfuls.map((kills) => [kills.join(', '), kills] as const))(
        'at %s',
        async (_, kills) => {
          expect(await tryKills(world, ready, kills)).toMatchObject({ fault: null })
        },
      )
    },
  )
  return () => world
}

/** How each of these suites ends. */
export const endsWithClosedBooks = (worldOf: () => World): void =>
  test('in the end the books say where every unit is', () => booksClose(worldOf().stack))

/** As even as can be, so that no item is alone with one kill. */
function inHandfuls(boundaries: readonly string[]): string[][] {
  const count = Math.ceil(boundaries.length / killsMax)
  const size = Math.ceil(boundaries.length / count)
  return Array.from({ length: count }, (_, at) => boundaries.slice(at * size, (at + 1) * size))
}
