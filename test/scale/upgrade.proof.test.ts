import { afterAll, expect, test } from 'bun:test'
import { pause } from '#platform/deadline'
import { serviceNames } from '#shared/messages/topic'
import { checkedOut } from '../world/drivers/older'
import { startLoad } from './load'
import { ended, expectNothingFound, failuresOf, openLoadedWorld, tellOf } from './world'

const from = process.env.UPGRADE_FROM ?? 'HEAD^'
const older = checkedOut(from)
afterAll(() => older[Symbol.dispose]())

// Schema, catalogue and contract are this commit's; the first instance of each service is older.
const world = await openLoadedWorld(4, {
  codeDir: (copy) => (copy === 1 ? older.dir : undefined),
})
afterAll(() => world[Symbol.asyncDispose]())
const { stack } = world

/** Interval of steps in ms, each of which makes four requests. */
const paceMs = 250
const besideMs = 10_000
const betweenMs = 1_000

test(`services of ${from} and of this commit work side by side, until the older ones are stopped one by one`, async () => {
  const load = startLoad(world, paceMs)
  await pause(besideMs)
  for (const name of serviceNames) {
    await stack.process(name, 1).stop('SIGTERM')
    await pause(betweenMs)
  }
  await load.stop()
  const lastMs = await ended(world)
  console.log(`${tellOf(load.seen)}; ${world.record.deeds.length} flows, the last ${lastMs} ms later`)
  expect(failuresOf(load.seen)).toEqual([])
  await expectNothingFound(world)
})
