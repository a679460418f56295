import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { ordersOf, runRace } from './race'
import { races } from './races/races'
import { withoutGuard } from './report'

/** Orders of each race, which are the same in each run; `bun run prove orders` runs more. */
const sample = 5
/** Orders without a guard, enough to include one that goes wrong. */
const guardSample = 40

let server: ScratchPostgres
beforeAll(async () => {
  server = await startScratchPostgres()
})
afterAll(() => server?.[Symbol.asyncDispose]())

describe('in any order of their statements, nothing is doubled and nothing lost', () => {
  test.each(races)('$name', async (race) => {
    const { wrong, orders } = await runRace(server, race, { sample })
    expect(wrong).toEqual([])
    expect(orders).toBe(sample)
  })
})

describe('an order goes wrong without', () => {
  const guards = races.flatMap((race) => race.guards.map((guard) => ({ race, guard })))
  test.each(guards.map(({ race, guard }) => [guard.name, race.name, race, guard] as const))(
    '%s: %s',
    async (_, __, race, guard) => {
      expect(await withoutGuard(server, race, guard, guardSample)).toBeDefined()
    },
  )
})

test('two transactions of six statements that never wait for each other have 924 orders', () => {
  expect(ordersOf([6, 6])).toBe(924n)
})
