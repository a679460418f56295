import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { ordersOf, runRace } from './race'
import { races } from './races/races'

/** Orders of each race, which are the same in each run; `bun run prove orders` runs more. */
const sample = 5

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

test('two transactions of six statements that never wait for each other have 924 orders', () => {
  expect(ordersOf([6, 6])).toBe(924n)
})
