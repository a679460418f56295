import { afterAll, expect, spyOn, test } from 'bun:test'
import { pgSchema } from 'drizzle-orm/pg-core'
import { consume, watch } from '#platform/bus/consume'
import { openBus } from '#platform/bus/open'
import { reactTo } from '#platform/bus/reaction'
import { messagingTables } from '#platform/db/messaging'
import { openLog, openLogThrottled } from '#platform/log'
import { registry } from '#platform/metrics/measures'
import { DripOrdered } from '#shared/messages/relay'
import { startScratchDatabase } from '#test/support/scratch-postgres'
import { provisionNats, startScratchServer } from '#test/support/scratch-server'
import { waitUntil } from '#test/support/wait'

const server = await startScratchServer()
await provisionNats({ url: server.url, user: 'admin', password: server.passwords.admin })
const rows = await startScratchDatabase('chain-relayer')
afterAll(async () => {
  await rows[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

const name = 'chain-relayer'
const messaging = messagingTables(pgSchema('chain_relayer'))
const parts = { log: openLog(name, 'silent'), messaging, poke: () => {} }
const openReader = () =>
  openBus({
    url: server.url,
    user: name,
    password: server.passwords[name],
    name,
    log: parts.log,
    onFatal: () => {},
  })

test('security: a message whose id Postgres cannot store is dead-lettered under its place in the stream', async () => {
  const gateway = await server.connectAs('gateway')
  const incompressible = Array.from({ length: 200 }, () => crypto.randomUUID()).join()
  const ids = [incompressible, 'a\0']
  for (const msgID of ids) await gateway.jetstream().publish(DripOrdered.subject, '{}', { msgID })
  await gateway.close()
  await using bus = await openReader()
  const drip = reactTo(DripOrdered, { apply: async () => {} })
  const { database } = rows
  await using _consuming = consume({
    ...parts,
    bus,
    consumer: name,
    database,
    reactions: [drip],
    onFatal: () => {},
  })
  const kept = await waitUntil('the dead letters', async () => {
    const found = await database.read((db) => db.select().from(messaging.deadLetters))
    return found.length === ids.length && found
  })
  expect(kept.map(({ messageId }) => messageId).sort()).toEqual(['COMMANDS:1', 'COMMANDS:2'])
})

test('a consumer with waiting messages goes on when the clock of its machine is set forward', async () => {
  const gateway = await server.connectAs('gateway')
  const wallet = `0x${'11'.repeat(20)}`
  const order = JSON.stringify({ wallet })
  for (let at = 0; at < 30; at++) await gateway.jetstream().publish(DripOrdered.subject, order, { msgID: `drip ${at}` })
  await gateway.close()

  await using bus = await openReader()
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
      ...parts,
      bus,
      consumer: name,
      database: rows.database,
      reactions: [drip],
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

test('a durable consumer that is gone raises an alarm, and messages are read again once it is back', async () => {
  const lines: { msg: string; alarm?: boolean; stream?: string; consumer?: string }[] = []
  const log = openLog(name, 'info', { write: (line) => void lines.push(JSON.parse(line)) })
  const admin = await server.connectAs('admin')
  const gateway = await server.connectAs('gateway')
  const order = async (id: string) => {
    await gateway
      .jetstream()
      .publish(DripOrdered.subject, JSON.stringify({ wallet: `0x${'22'.repeat(20)}` }), { msgID: id })
  }
  const handled = new Set<string>()
  const drip = reactTo(DripOrdered, {
    apply: async (_, { wallet }) => void handled.add(wallet),
  })
  await using bus = await openReader()
  await using _consuming = consume({
    ...parts,
    log,
    bus,
    consumer: name,
    database: rows.database,
    reactions: [drip],
    onFatal: () => {},
  })
  await (await admin.jetstreamManager()).consumers.delete('COMMANDS', name)
  await order('while it is gone')
  const line = await waitUntil('the alarm', () => lines.find(({ alarm }) => alarm), 40_000)
  expect(line).toMatchObject({ msg: 'durable consumer is gone', stream: 'COMMANDS', consumer: name })
  const measured = async () =>
    (await registry.metrics()).match(
      new RegExp(`^ausd_consumer_missing\\{stream="COMMANDS",consumer="${name}"\\} (.)$`, 'm'),
    )?.[1]
  expect(await measured()).toBe('1')
  await provisionNats({ url: server.url, user: 'admin', password: server.passwords.admin })
  await waitUntil('the message', () => handled.size > 0)
  await waitUntil('the metric', async () => (await measured()) === '0', 40_000)
  await Promise.all([admin.close(), gateway.close()])
})

test('a consumer that gets none of the waiting messages ends the process, but not after a quiet time or an outage alone', async () => {
  const silenceMaxMs = 100
  let fatal = 0
  let waiting: number | 'away' = 0
  const info = async () => {
    if (waiting === 'away') throw new Error('TIMEOUT')
    return { num_pending: waiting }
  }
  const options = {
    bus: { js: { consumers: { get: async () => ({ info }) } } } as never,
    stream: 'COMMANDS',
    consumer: name,
    log: parts.log,
    logSeldom: openLogThrottled(parts.log, Date.now),
    silenceMaxMs,
    onFatal: () => void fatal++,
  } as const
  const state = { silentSince: performance.now() }
  const look = async (seen: typeof waiting) => {
    waiting = seen
    await watch(options, state, new AbortController().signal)
    return fatal
  }
  for (const before of [0, 'away'] as const) {
    await Bun.sleep(silenceMaxMs)
    expect(await look(before)).toBe(0)
    expect(await look(7)).toBe(0)
  }
  await Bun.sleep(silenceMaxMs)
  expect(await look(7)).toBe(1)
})
