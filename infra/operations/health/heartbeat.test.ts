import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import postgres, { type Sql } from 'postgres'
import { streams } from '#infra/nats/topology'
import { type Bus, openBus } from '#platform/bus/open'
import { type Database, openDatabase } from '#platform/db/open'
import { openLog } from '#platform/log'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { provisionNats, type ScratchServer, startScratchServer } from '#test/support/scratch-server'
import { waitUntil } from '#test/support/wait'
import { type Heartbeats, heartbeatEveryMs, openHeartbeats } from './heartbeat'

const log = openLog('operations', 'silent')
let server: ScratchServer
let scratch: ScratchPostgres
let admin: Sql
let database: Database
let bus: Bus
let heartbeats: Heartbeats
beforeAll(async () => {
  ;[server, scratch] = await Promise.all([startScratchServer(), startScratchPostgres()])
  await provisionNats({ url: server.url, user: 'admin', password: server.passwords.admin })
  admin = postgres(scratch.adminUrl, { max: 1, onnotice: () => {} })
  const user = 'operations'
  const url = scratch.urlAs(user, scratch.passwords.operations)
  database = openDatabase({ url: `${url}?role=books`, name: 'suite', log, onFatal: () => {} })
  bus = await openBus({
    url: server.url,
    user,
    password: server.passwords.operations,
    name: user,
    log,
    onFatal: () => {},
  })
})
afterAll(async () => {
  await bus?.[Symbol.asyncDispose]()
  await database?.[Symbol.asyncDispose]()
  await admin?.end({ timeout: 1 })
  await Promise.all([server, scratch].map((one) => one?.[Symbol.asyncDispose]()))
})
beforeEach(() => {
  heartbeats = openHeartbeats({ bus, database, log })
})

const silent = async () => {
  await heartbeats.beat()
  return Object.fromEntries(heartbeats.figures().flatMap(({ through, says }) => (says ? [[through, says]] : [])))
}

describe('the heartbeats', () => {
  test('go through Postgres and every stream, again and again, and leave nothing in a stream', async () => {
    expect(heartbeats.figures().map(({ through }) => through)).toEqual(['postgres', ...streams.map(({ name }) => name)])
    expect(await silent()).toEqual({})
    const nc = await server.connectAs('admin')
    const manager = await nc.jetstreamManager()
    const stored = async () =>
      (await Promise.all(streams.map(({ name }) => manager.streams.info(name)))).map(({ state }) => state.messages)
    expect(await stored()).toEqual(streams.map(() => 1))
    await waitUntil('their end', async () => (await stored()).every((count) => count === 0), 20_000)
    expect(await silent()).toEqual({})
    await nc.close()
  })

  test('name Postgres while it answers questions and refuses writes', async () => {
    await admin`alter system set default_transaction_read_only = on`
    await admin`select pg_reload_conf()`
    try {
      await waitUntil('the refusal', async () => /read-only/.test((await silent()).postgres ?? ''))
      expect(Object.keys(await silent())).toEqual(['postgres'])
    } finally {
      await admin`set default_transaction_read_only = off`
      await admin`alter system reset default_transaction_read_only`
      await admin`select pg_reload_conf()`
    }
    await waitUntil('the next write', async () => Object.keys(await silent()).length === 0)
  })

  test('name the stream that takes no message, and raise an alert after the third in a row', async () => {
    const nc = await server.connectAs('admin')
    const manager = await nc.jetstreamManager()
    const raised: { msg: string; alarm?: boolean }[] = []
    const telling = openLog('operations', 'info', { write: (line) => void raised.push(JSON.parse(line)) })
    let now = 0
    heartbeats = openHeartbeats({ bus, database, log: telling, clock: () => now })
    const beatLater = () => {
      now += heartbeatEveryMs
      return silent()
    }
    await beatLater()
    await manager.streams.update('EVENTS', { max_msg_size: 1 })
    try {
      for (let missed = 1; missed <= 3; missed++)
        expect(await beatLater()).toEqual({ EVENTS: expect.stringMatching(/size/) })
      expect(raised).toEqual([])
      const { EVENTS: says } = await beatLater()
      const msg = 'heartbeat missed'
      expect(raised).toMatchObject([{ alarm: true, msg, through: 'EVENTS', ageMs: 4 * heartbeatEveryMs, says }])
    } finally {
      await manager.streams.update('EVENTS', { max_msg_size: -1 })
      await nc.close()
    }
    expect(await beatLater()).toEqual({})
    expect(raised).toHaveLength(1)
  })
})
