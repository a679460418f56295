import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { sql } from 'drizzle-orm'
import postgres, { type Options, type Sql } from 'postgres'
import { type Database, openDatabase } from '#platform/db/open'
import { openLog } from '#platform/log'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { waitUntil } from '#test/support/wait'

/** Statements that postgres.js 3.4.9 sends on one connection without a response. */
const pipelineMax = 100

let server: ScratchPostgres
let admin: Sql
beforeAll(async () => {
  server = await startScratchPostgres('empty')
  admin = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
  await admin`create table kept (word text)`
})
afterAll(async () => {
  await admin.end({ timeout: 1 })
  await server[Symbol.asyncDispose]()
})

const open = (max: number): Database =>
  openDatabase({
    url: server.adminUrl,
    name: 'suite',
    max,
    onFatal: () => {},
    log: openLog('suite', 'silent'),
  })
const driver = (options: Options<Record<string, never>> = {}): Sql =>
  postgres(server.adminUrl, { max: 1, onnotice: () => {}, ...options })
const outcomeOf = (call: PromiseLike<unknown>) =>
  Promise.resolve(call).then(
    (rows) => rows,
    (error: Error) => error.message,
  )
const count = async (word: string) => Number((await admin`select count(*) from kept where word = ${word}`)[0]!.count)

async function whileLocked(work: () => Promise<void>): Promise<void> {
  await admin`select pg_advisory_lock(1)`
  try {
    await work()
  } finally {
    await admin`select pg_advisory_unlock(1)`
  }
}
const lockWaits = (wanted: number) =>
  waitUntil(`${wanted} statements waiting for the lock`, async () => {
    const [row] = await admin`select count(*) from pg_locks where locktype = 'advisory' and not granted`
    return Number(row!.count) === wanted
  })

describe('a transaction has its connection to itself', () => {
  test('when BEGIN fills the pipeline of its connection: no acknowledged write is lost', async () => {
    const connections = 2
    const database = open(connections)
    const all = <T>(length: number, call: () => Promise<T>) => Array.from({ length }, call)
    const read = () => database.read((db) => db.execute(sql`select 1 as one`))
    const write = (word: string) => sql.raw(`insert into kept values ('${word}')`)
    await Promise.all(all(connections, read))
    const queued: Promise<unknown>[] = []
    const transactions: Promise<unknown>[] = []
    await whileLocked(async () => {
      const wait = sql`select pg_advisory_lock_shared(1)`
      queued.push(...all(connections, () => database.read((db) => db.execute(wait))))
      queued.push(...all(connections * (pipelineMax - 1), read))
      await lockWaits(connections)
      const insert = () => database.transaction((tx) => tx.execute(write('together')))
      transactions.push(...all(connections, insert))
    })
    await Promise.all(queued)
    await Promise.all(transactions.map(outcomeOf))
    await Promise.all(all(20, () => database.run((db) => db.execute(write('alone')))))
    expect(await count('alone')).toBe(20)
    expect(await count('together')).toBe(connections)
    await database[Symbol.asyncDispose]()
  })

  test('when its socket reports late that it has been drained', async () => {
    const sockets: Socket[] = []
    const { hostname, port } = new URL(server.adminUrl)
    const socket = () =>
      new Promise<Socket>((resolve) => {
        const made = connect(Number(port), hostname, () => resolve(made))
        sockets.push(made)
      })
    // The types lack the option that lets the caller open the socket.
    const client = driver({ socket } as object)
    const alone = await client.begin(async (tx) => {
      await tx`insert into kept values ('drained')`
      sockets[0]!.emit('drain')
      const alone = outcomeOf(client`select now() as at`)
      await tx`select pg_sleep(0.01)`
      expect(await count('drained')).toBe(0)
      const [mine] = await tx`select now() as at`
      return { alone, mine }
    })
    // The value of now() is the time at which a transaction began.
    expect(await alone.alone).not.toEqual([alone.mine])
    await client.end({ timeout: 1 })
  })
})

describe('an error belongs to its own statement', () => {
  test('after a restart of Postgres no call fails with the error of its old connection', async () => {
    const database = open(4)
    const pids = new Set<number>()
    const sleeping = Array.from({ length: 4 }, () =>
      outcomeOf(database.read((db) => db.execute(sql`select pg_sleep(60)`))),
    )
    await waitUntil('four sleeping backends', async () => {
      const rows =
        await admin`select pid from pg_stat_activity where query like 'select pg_sleep%' and state = 'active'`
      for (const { pid } of rows) pids.add(pid)
      return pids.size === 4
    })
    for (const pid of pids) await admin`select pg_terminate_backend(${pid}, 5000)`
    await Promise.all(sleeping)
    const next = Array.from({ length: 4 }, () => database.read((db) => db.execute(sql`select 1 as one`)))
    expect(await Promise.all(next.map(outcomeOf))).toEqual(next.map(() => [{ one: 1 }]))
    await database[Symbol.asyncDispose]()
  })

  test('a client that lost its connection in a statement ends at once', async () => {
    const client = driver()
    const [row] = await client`select pg_backend_pid() as pid`
    const sleeping = outcomeOf(client`select pg_sleep(60)`)
    await waitUntil('the sleeping backend', async () => {
      const [found] = await admin`select query from pg_stat_activity where pid = ${row!.pid}`
      return found!.query === 'select pg_sleep(60)'
    })
    await admin`select pg_terminate_backend(${row!.pid}, 5000)`
    await sleeping
    const ended = Promise.race([client.end().then(() => 'ended'), Bun.sleep(10_000)])
    expect(await ended).toBe('ended')
  })

  test('a statement that fails between two of its rows leaves no holes in the next result', async () => {
    const client = driver()
    await client`select 1`
    const [failed, next] = await Promise.all([
      outcomeOf(client`select n, 1 / (4 - n) as x from generate_series(1, 10) as n`),
      outcomeOf(client`select n from generate_series(1, 3) as n`),
    ])
    expect(failed).toBe('division by zero')
    expect(next).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
    await client.end({ timeout: 1 })
  })

  test('a statement that cannot be sent fails alone: the others get their own rows', async () => {
    const client = driver()
    await client`select 1`
    const missing = undefined as unknown as string
    const all = Promise.all([
      outcomeOf(client`select 1 as first from pg_sleep(0.1)`),
      outcomeOf(client`select ${missing} as never`),
      outcomeOf(client`select 3 as third`),
      outcomeOf(client`select 4 as fourth`),
    ])
    expect(await Promise.race([all, Bun.sleep(10_000)])).toEqual([
      [{ first: 1 }],
      expect.stringContaining('UNDEFINED_VALUE'),
      [{ third: 3 }],
      [{ fourth: 4 }],
    ])
    expect(await outcomeOf(client`select ${missing} as never`)).toContain('UNDEFINED_VALUE')
    expect(await outcomeOf(client`select 5 as fifth`)).toEqual([{ fifth: 5 }])
    await client.end({ timeout: 1 })
  })
})

/** A message of Postgres: a letter, the length that counts itself, and the body. */
function messageOf(letter: string, body: string): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(4 + body.length)
  return Buffer.concat([Buffer.from(letter), length, Buffer.from(body)])
}

/** Relays connections to the server. `answer` takes over the driver's own first statement, once. */
async function openRelay(answer: (driver: Socket) => void): Promise<AsyncDisposable & { url: string }> {
  const { hostname, port } = new URL(server.adminUrl)
  let isTaken = false
  const relay = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const one of [client, upstream]) one.on('error', () => {})
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
    upstream.on('data', (data) => client.write(data))
    client.on('data', (data) => {
      if (!isTaken && data.includes('typcategory')) {
        isTaken = true
        answer(client)
      } else upstream.write(data)
    })
  })
  await new Promise<void>((listening) => relay.listen(0, '127.0.0.1', listening))
  const url = new URL(server.adminUrl)
  url.port = String((relay.address() as AddressInfo).port)
  return { url: url.toString(), [Symbol.asyncDispose]: async () => void relay.close() }
}

describe('if the statement that the driver sends by itself on a new connection fails', () => {
  const canceled = Buffer.concat([messageOf('E', 'SERROR\0C57014\0Mcanceled\0\0'), messageOf('Z', 'I')])

  test.each([
    ['because the connection is lost', (client: Socket) => client.destroy()],
    ['because the connection is reset', (client: Socket) => client.resetAndDestroy()],
    ['because Postgres cancels it', (client: Socket) => void client.write(canceled)],
  ])('%s, the process lives, and the next connection knows arrays', async (_, answer) => {
    await using relay = await openRelay(answer)
    const client = postgres(relay.url, { max: 1, onnotice: () => {}, backoff: () => 0.01 })
    const asked = () => client`select ${['a', 'b,c']}::text[] as words`
    await outcomeOf(asked())
    await outcomeOf(asked())
    expect(await outcomeOf(asked())).toEqual([{ words: ['a', 'b,c'] }])
    await client.end({ timeout: 1 })
  })

  test('a transaction that waits for the connection gets it or an error', async () => {
    await using relay = await openRelay((client) => client.destroy())
    const client = postgres(relay.url, { max: 1, onnotice: () => {}, backoff: () => 0.01 })
    const transaction = () => outcomeOf(client.begin((tx) => tx`select 1 as one`))
    await transaction()
    expect(await transaction()).toEqual([{ one: 1 }])
    await client.end({ timeout: 1 })
  })
})

test('after a pooler dropped the prepared statements, parallel statements get their own rows', async () => {
  const database = open(1)
  const read = (n: number) => database.read((db) => db.execute(sql`select ${n}::int as n`))
  const double = (n: number) => database.read((db) => db.execute(sql`select ${n}::int * 2 as n`))
  await Promise.all([read(0), double(0)])
  await database.run((db) => db.execute(sql`deallocate all`))
  const all = [1, 2, 3].flatMap((n) => [read(n), double(n)])
  expect(await Promise.all(all.map(outcomeOf))).toEqual([1, 2, 3].flatMap((n) => [[{ n }], [{ n: n * 2 }]]))
  await database[Symbol.asyncDispose]()
})

describe('after the type of a column changed', () => {
  test.each([1, 2])(
    'parallel statements on %p connections get their own rows',
    async (connections) => {
      const database = open(connections)
      await admin`create table if not exists shapes (id text primary key, word text)`
      await admin`insert into shapes values ('known', 'a') on conflict do nothing`
      const find = () => database.read((db) => db.execute(sql`select word from shapes where id = ${'known'}`))
      const insert = (id: string) =>
        database.run((db) =>
          db.execute(sql`insert into shapes values (${id}, 'b') on conflict do nothing returning id, word`),
        )
      const other = (n: number) => database.read((db) => db.execute(sql`select ${n}::int as n`))
      for (let round = 0; round < 6; round++) {
        const id = (n: number) => `${connections} ${round} ${n}`
        await Promise.all([find(), insert(id(0)), other(0)])
        await admin.unsafe(`alter table shapes alter column word type ${round % 2 === 0 ? 'varchar(50)' : 'text'}`)
        const all = [1, 2, 3, 4].flatMap((n) => [find(), insert(id(n)), other(n)])
        const rows = [1, 2, 3, 4].flatMap((n) => [[{ word: 'a' }], [{ id: id(n), word: 'b' }], [{ n }]])
        expect(await Promise.all(all.map(outcomeOf))).toEqual(rows)
      }
      await database[Symbol.asyncDispose]()
    },
    30_000,
  )
})

test.each([
  ['alone', (port: number) => `[::1]:${port}`],
  ['as the second of two hosts', (port: number) => `127.0.0.1:1,[::1]:${port}`],
])('an IPv6 address in the URL is reached, %s', async (_, hosts) => {
  const reached = Promise.withResolvers<void>()
  const door = createServer((socket) => {
    socket.destroy()
    reached.resolve()
  })
  await new Promise<void>((listening) => door.listen(0, '::1', listening))
  const { port } = door.address() as AddressInfo
  const client = postgres(`postgres://sari@${hosts(port)}/none`, { max: 1, connect_timeout: 2 })
  const asked = outcomeOf(client`select 1`)
  await Promise.race([reached.promise, asked.then((outcome) => Promise.reject(new Error(String(outcome))))])
  await client.end({ timeout: 0 })
  door.close()
})
