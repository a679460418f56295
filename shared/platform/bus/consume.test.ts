import { afterAll, expect, spyOn, test } from 'bun:test'
import { pgSchema } from 'drizzle-orm/pg-core'
import { consume } from '#platform/bus/consume'
import { openBus } from '#platform/bus/open'
import { reactTo } from '#platform/bus/reaction'
import { messagingTables } from '#platform/db/messaging'
import { openLog } from '#platform/log'
import { DripOrdered } from '#shared/messages/relay'
import { startScratchDatabase } from '#test/support/scratch-postgres'
import { provisionNats, startScratchServer } from '#test/support/scratch-server'
import { waitUntil } from '#test/support/wait'

const server = await startScratchServer()
const rows = await startScratchDatabase('chain-relayer')
afterAll(async () => {
  await rows[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

test('a consumer with waiting messages goes on when the clock of its machine is set forward', async () => {
  const { passwords, url } = server
  await provisionNats({ url, user: 'admin', password: passwords.admin })
  const gateway = await server.connectAs('gateway')
  const wallet = `0x${'11'.repeat(20)}`
  const order = JSON.stringify({ wallet })
  for (let at = 0; at < 30; at++)
    await gateway.jetstream().publish(DripOrdered.subject, order, { msgID: `drip ${at}` })
  await gateway.close()

  const name = 'chain-relayer'
  const log = openLog(name, 'silent')
  await using bus = await openBus({
    ...{ url, user: name, password: passwords[name], name, log, onFatal: () => {} },
  })
  const end = Promise.withResolvers<void>()
  let [found, fatal] = [0, 0]
  const drip = reactTo(DripOrdered, {
    find: async () => {
      found++
      await end.promise
    },
    apply: async () => {},
  })
  const { now } = Date
  let aheadMs = 0
  const setForward = () => (aheadMs = 7_200_000)
  const clock = spyOn(Date, 'now').mockImplementation(() => {
    const time = now() + aheadMs
    setForward()
    return time
  })
  try {
    await using _consuming = consume({
      ...{ bus, log, consumer: name, database: rows.database, reactions: [drip] },
      messaging: messagingTables(pgSchema('chain_relayer')),
      poke: () => {},
      onFatal: () => void fatal++,
    })
    setForward()
    await waitUntil('as many messages as are handled at once', () => found === 8)
    end.resolve()
    await waitUntil('all messages', () => found === 30)
  } finally {
    clock.mockRestore()
  }
  expect(fatal).toBe(0)
})
