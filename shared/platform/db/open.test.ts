import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { sql } from 'drizzle-orm'
import { pgTable, text } from 'drizzle-orm/pg-core'
import postgres, { type Sql } from 'postgres'
import { isOneOf } from '#platform/db/columns'
import { type Database, type Db, openDatabase } from '#platform/db/open'
import { type Log, openLog } from '#platform/log'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { waitUntil } from '#test/support/wait'

let server: ScratchPostgres
let admin: Sql
const log = openLog('payments', 'silent')

beforeAll(async () => {
  server = await startScratchPostgres('empty')
  admin = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
  await admin`create table kept (word text)`
})
afterAll(async () => {
  await admin.end({ timeout: 1 })
  await server[Symbol.asyncDispose]()
})

function open(options: { url?: string; max?: number; callDeadlineMs?: number; log?: Log } = {}) {
  const fatal = { count: 0 }
  const onFatal = () => void fatal.count++
  const database = openDatabase({ url: server.adminUrl, name: 'suite', log, onFatal, ...options })
  return { database, fatal }
}
const one = (database: Database) => database.read((db) => db.execute(sql`select 1 as one`))
const outcomeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'answered' as const,
    (error: Error) => error.message,
  )

describe('a connection lost in a transaction', () => {
  /** Loses the connection of a transaction, which continues with a statement when `until` has resolved. */
  async function loseConnection(database: Database, until: () => Promise<unknown>) {
    const wentOn = Promise.withResolvers<string>()
    const transaction = outcomeOf(
      database.transaction(async (tx) => {
        const [row] = await tx.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`)
        await tx.execute(sql`insert into kept values ('before')`)
        await admin`select pg_terminate_backend(${row!.pid}, 5000)`
        await until()
        const statement = tx.execute(sql`insert into kept values ('after')`)
        wentOn.resolve(await outcomeOf(Promise.resolve(statement)))
      }),
    )
    return { transaction: await transaction, statement: await wentOn.promise }
  }
  const failed = expect.stringMatching(/Failed query|CONNECTION_CLOSED|terminating connection/)

  test('fails the transaction and nothing else: neither the process nor the next call', async () => {
    const { database, fatal } = open({ max: 1 })
    const closed = () => Bun.sleep(50)
    expect(await loseConnection(database, closed)).toEqual({
      transaction: failed,
      statement: failed,
    })
    expect(await outcomeOf(one(database))).toBe('answered')
    expect([...(await admin`select word from kept`)]).toEqual([])
    expect(fatal.count).toBe(0)
    await database[Symbol.asyncDispose]()
  })

  test('causes no statement to be repeated on the new connection', async () => {
    const { database } = open({ max: 1 })
    const replaced = async () => {
      await Bun.sleep(50)
      await one(database)
    }
    expect(await loseConnection(database, replaced)).toEqual({
      transaction: failed,
      statement: failed,
    })
    expect([...(await admin`select word from kept`)]).toEqual([])
    await database[Symbol.asyncDispose]()
  })
})

/** Serves Postgres behind a port that is closed until `open`. */
function outage() {
  const target = Number(new URL(server.adminUrl).port)
  const sockets = new Set<Socket>()
  const proxy: Server = createServer((socket) => {
    const onward = connect(target, '127.0.0.1')
    for (const end of [socket, onward]) {
      sockets.add(end)
      end.on('error', () => {})
      end.on('close', () => [socket, onward].map((other) => other.destroy()))
    }
    socket.pipe(onward).pipe(socket)
  })
  const listen = (port: number) =>
    new Promise<number>((resolve) =>
      proxy.listen(port, '127.0.0.1', () => resolve((proxy.address() as { port: number }).port)),
    )
  const close = () => {
    for (const socket of sockets) socket.destroy()
    return new Promise((resolve) => proxy.close(resolve))
  }
  return { listen, close }
}

describe('after an outage', () => {
  test('the first calls succeed, and the process is not ended', async () => {
    const postgresBehind = outage()
    const port = await postgresBehind.listen(0)
    await postgresBehind.close()
    const url = new URL(server.adminUrl)
    url.port = String(port)
    const lines: { msg: string }[] = []
    const telling = openLog('suite', 'info', { write: (line) => void lines.push(JSON.parse(line)) })
    const told = () => lines.map(({ msg }) => msg)
    const { database, fatal } = open({ url: url.toString(), log: telling })
    for (let round = 0; round < 2; round++) await Promise.all(Array.from({ length: 8 }, () => outcomeOf(one(database))))
    await postgresBehind.listen(port)
    const calls = Array.from({ length: 8 }, () => outcomeOf(one(database)))
    expect(await Promise.all(calls)).toEqual(calls.map(() => 'answered'))
    expect(fatal.count).toBe(0)
    await waitUntil('the return being told', async () => {
      await one(database)
      return told().includes('postgres available again')
    })
    expect(told()).toEqual(['postgres unavailable', 'postgres available again'])
    await database[Symbol.asyncDispose]()
    await postgresBehind.close()
  })

  const hangMany = (database: Database) =>
    Promise.all(Array.from({ length: 6 }, () => outcomeOf(database.transaction(() => new Promise(() => {})))))

  test('a process whose calls hang while others succeed is ended', async () => {
    const { database, fatal } = open({ callDeadlineMs: 200 })
    // A process checks once per round, which takes a few seconds, whether other calls are answered.
    await waitUntil('the end', async () => {
      await hangMany(database)
      return fatal.count > 0
    })
    await database[Symbol.asyncDispose]()
  })

  test('a process is not ended while no call succeeds', async () => {
    const ended = { count: 0 }
    const silent = createServer((socket) => {
      socket.on('error', () => {})
      socket.on('close', () => ended.count++)
      socket.resume()
    })
    const port = await new Promise<number>((resolve) =>
      silent.listen(0, '127.0.0.1', () => resolve((silent.address() as { port: number }).port)),
    )
    const url = new URL(server.adminUrl)
    url.port = String(port)
    const { database, fatal } = open({ url: url.toString(), callDeadlineMs: 200 })
    await hangMany(database)
    // The retrying caller has stopped by now.
    await waitUntil('a connection being given up', () => ended.count > 0)
    expect(fatal.count).toBe(0)
    await database[Symbol.asyncDispose]()
    silent.close()
  })

  test('calls without a response count only while no call of any kind succeeds', async () => {
    // The deadline is long enough for the answered call, on a busy machine too.
    const { database, fatal } = open({ callDeadlineMs: 3_000 })
    const hang = () => outcomeOf(database.transaction(() => new Promise(() => {})))
    const hangs = () => Promise.all([hang(), hang(), hang(), hang()])
    await hangs()
    const refused = database.run((db) => db.execute(sql`insert into nowhere values (1)`))
    expect(await outcomeOf(refused)).toContain('nowhere')
    await hang()
    expect(fatal.count).toBe(0)
    await database[Symbol.asyncDispose]()
  })
})

describe('a statement', () => {
  const words = pgTable('kept', { word: text('word') })
  const prepared = async (database: Database) => {
    const held = sql`select statement from pg_prepared_statements where statement like '%"kept"%' and statement not like '%pg_prepared%'`
    return (await database.read((db) => db.execute<{ statement: string }>(held))).map(({ statement }) => statement)
  }

  test('is prepared once per connection, also within a transaction', async () => {
    const { database } = open({ max: 1 })
    const find = (db: Db, wanted: string[]) => db.select().from(words).where(isOneOf(words.word, wanted))
    for (const wanted of [['one'], ['one', 'two'], []])
      expect(await database.read((db) => find(db, wanted))).toEqual([])
    await database.transaction((tx) => find(tx, ['three']))
    expect(await prepared(database)).toEqual(['select "word" from "kept" where "kept"."word" = any($1)'])
    await database[Symbol.asyncDispose]()
  })

  test('continues after its table was changed', async () => {
    const { database } = open({ max: 1 })
    const find = () => database.read((db) => db.select().from(words))
    expect(await find()).toEqual([])
    await admin`alter table kept alter column word type varchar(40)`
    expect(await find()).toEqual([])
    await admin`alter table kept alter column word type text`
    expect(await find()).toEqual([])
    await database[Symbol.asyncDispose]()
  })
})
