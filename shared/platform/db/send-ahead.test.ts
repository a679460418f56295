import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { type AddressInfo, connect, createServer } from 'node:net'
import { sql } from 'drizzle-orm'
import postgres, { type Sql, type TransactionSql } from 'postgres'
import { type Database, openDatabase, sendAhead, type Tx } from '#platform/db/open'
import { openLog } from '#platform/log'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { waitUntil } from '#test/support/wait'

let server: ScratchPostgres
let admin: Sql
beforeAll(async () => {
  server = await startScratchPostgres('empty')
  admin = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
  await admin`create table kept (word text primary key)`
  await admin`create table owing (id int primary key, other int references owing deferrable initially deferred)`
})
beforeEach(async () => {
  await admin`truncate kept`
})
afterAll(async () => {
  await admin.end({ timeout: 1 })
  await server[Symbol.asyncDispose]()
})

type Relay = AsyncDisposable & {
  readonly url: string
  readonly database: Database
  /** Returns the number of times the driver has waited for the server and then sent something. */
  readonly roundTrips: () => number
}

/** Relays one connection to the server, `delayMs` later. `change` may replace what the driver sends. */
async function openRelay(change: (sent: Buffer) => Buffer = (sent) => sent, delayMs = 0): Promise<Relay> {
  const { hostname, port } = new URL(server.adminUrl)
  let roundTrips = 0
  let isAnswered = true
  const relay = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const one of [client, upstream]) one.on('error', () => {})
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
    upstream.on('data', async (data) => {
      if (delayMs > 0) await Bun.sleep(delayMs)
      isAnswered = true
      client.write(data)
    })
    client.on('data', (data) => {
      if (isAnswered) roundTrips++
      isAnswered = false
      upstream.write(change(data as Buffer))
    })
  })
  await new Promise<void>((listening) => relay.listen(0, '127.0.0.1', listening))
  const url = new URL(server.adminUrl)
  url.port = String((relay.address() as AddressInfo).port)
  const log = openLog('suite', 'silent')
  const database = openDatabase({ url: url.toString(), name: 'suite', max: 1, onFatal: () => {}, log })
  return {
    url: url.toString(),
    database,
    roundTrips: () => roundTrips,
    [Symbol.asyncDispose]: async () => {
      await database[Symbol.asyncDispose]()
      relay.close()
    },
  }
}

const insert = (word: string) => sql`insert into kept values (${word})`
const update = (from: string, to: string) => sql`update kept set word = ${to} where word = ${from}`
const find = (tx: Tx, word: string) => tx.execute(sql`select word from kept where word = ${word}`)
const words = async () => (await admin`select word from kept order by word`).map(({ word }) => word as string)
const outcomeOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    (value) => value,
    (error: Error) => `${error.message} ${(error.cause as Error | undefined)?.message ?? ''}`.trim(),
  )

describe('a transaction waits only for what it reads', () => {
  const transactions: [string, number, (tx: Tx, id: string) => Promise<unknown>][] = [
    ['without a statement', 1, async () => {}],
    ['with one statement', 2, (tx, id) => tx.execute(insert(id))],
    ['with a statement that is sent ahead', 1, async (tx, id) => sendAhead(tx, insert(id))],
    ['with statements at once', 2, (tx, id) => Promise.all([find(tx, id), tx.execute(insert(id)), find(tx, id)])],
    [
      'with a lock, a read, and two writes',
      2,
      async (tx, id) => {
        sendAhead(tx, sql`select pg_advisory_xact_lock(${1}::int)`)
        await find(tx, id)
        sendAhead(tx, insert(id))
        sendAhead(tx, update(id, `${id}.`))
      },
    ],
  ]
  test.each(transactions)('%s it takes %p round trips', async (_, trips, work) => {
    await using relay = await openRelay()
    const run = (id: string) => relay.database.transaction((tx) => work(tx, id))
    await run('a')
    const before = relay.roundTrips()
    for (const id of ['b', 'c', 'd']) await run(id)
    expect(relay.roundTrips() - before).toBe(3 * trips)
  })

  test('statements take effect in their order, also on a connection that has prepared none of them', async () => {
    await using relay = await openRelay()
    const found = await relay.database.transaction(async (tx) => {
      sendAhead(tx, insert('a'))
      sendAhead(tx, update('a', 'b'))
      const rows = await find(tx, 'b')
      sendAhead(tx, update('b', 'c'))
      return [...rows]
    })
    expect(found).toEqual([{ word: 'b' }])
    expect(await words()).toEqual(['c'])
  })

  test('many transactions at once on few connections each keep their own', async () => {
    const log = openLog('suite', 'silent')
    await using database = openDatabase({ url: server.adminUrl, name: 'suite', max: 2, onFatal: () => {}, log })
    const one = (id: number) =>
      database.transaction(async (tx) => {
        sendAhead(tx, insert(`${id}`))
        const rows = await find(tx, `${id}`)
        sendAhead(tx, update(`${id}`, `${id}.`))
        if (id % 3 === 0) throw new Error(`no ${id}`)
        if (id % 3 === 1) sendAhead(tx, insert(`${id}.`))
        return rows.length
      })
    const read = (id: number) => database.read((db) => db.execute(sql`select ${id}::int as id`))
    const ids = Array.from({ length: 60 }, (_, id) => id)
    const outcomes = await Promise.all(ids.flatMap((id) => [outcomeOf(one(id)), outcomeOf(read(id))]))
    expect(outcomes).toEqual(
      ids.flatMap((id) => [[`no ${id}`, expect.stringContaining('duplicate key'), 1][id % 3], [{ id }]]),
    )
    expect(await words()).toEqual(
      ids
        .filter((id) => id % 3 === 2)
        .map((id) => `${id}.`)
        .toSorted(),
    )
  })
})

describe('if a statement that is sent ahead fails, so does the transaction', () => {
  const failing = sql`select 1 / ${0}::int`
  const works: [string, (tx: Tx) => Promise<unknown>][] = [
    ['and the next statement is not executed', (tx) => tx.execute(insert('next'))],
    ['and the commit', async () => {}],
    ['and a commit that comes after its error', () => Bun.sleep(50)],
    [
      'although a later statement was sent ahead, too',
      async (tx) => {
        sendAhead(tx, insert('next'))
        sendAhead(tx, insert('and next'))
      },
    ],
    [
      'although its caller goes on',
      (tx) => outcomeOf(tx.execute(insert('next'))).then(() => sendAhead(tx, insert('late'))),
    ],
    [
      'although its error has arrived before the next statement',
      (tx) => Bun.sleep(50).then(() => outcomeOf(tx.execute(insert('next')))),
    ],
  ]
  test.each(works)('%s', async (_, rest) => {
    await using relay = await openRelay()
    for (const _ of ['not prepared', 'prepared']) {
      const failed = relay.database.transaction(async (tx) => {
        await tx.execute(insert('first'))
        sendAhead(tx, failing)
        await rest(tx)
      })
      expect(await outcomeOf(failed)).toContain('division by zero')
      const opening = relay.database.transaction(async (tx) => {
        sendAhead(tx, failing)
        await rest(tx)
      })
      expect(await outcomeOf(opening)).toContain('division by zero')
      expect(await words()).toEqual([])
      expect(await outcomeOf(relay.database.read((db) => db.execute(sql`select 1 as one`)))).toEqual([{ one: 1 }])
    }
    await relay.database.transaction(async (tx) => sendAhead(tx, insert('kept')))
    expect(await words()).toEqual(['kept'])
  })

  test('with its error, also where the connection has prepared none of several statements', async () => {
    await using relay = await openRelay()
    const failed = relay.database.transaction(async (tx) => {
      sendAhead(tx, failing)
      sendAhead(tx, insert('ahead'))
      await Promise.all([find(tx, 'one'), tx.execute(insert('other'))])
    })
    expect(await outcomeOf(failed)).toContain('division by zero')
    expect(await words()).toEqual([])
  })
})

describe('if Postgres refuses to begin, nothing is written', () => {
  const works: [string, (tx: Tx) => Promise<unknown>][] = [
    ['by one statement', (tx) => tx.execute(insert('a'))],
    ['by a statement that is sent ahead', async (tx) => sendAhead(tx, insert('a'))],
    ['by statements at once', (tx) => Promise.all([tx.execute(insert('a')), tx.execute(insert('b'))])],
    [
      'by statements whose caller goes on',
      async (tx) => {
        sendAhead(tx, insert('a'))
        const read = outcomeOf(find(tx, 'a'))
        const written = outcomeOf(tx.execute(insert('b')))
        await Promise.all([read, written])
        sendAhead(tx, insert('c'))
        await outcomeOf(tx.execute(insert('d')))
      },
    ],
  ]
  test.each(works)('%s', async (_, work) => {
    let refuses = false
    // Postgres does not know the word, and refuses it as it would refuse a BEGIN.
    await using relay = await openRelay((sent) =>
      refuses ? Buffer.from(sent.toString('latin1').replaceAll('begin ', 'bogus '), 'latin1') : sent,
    )
    const { database } = relay
    await database.run((db) => db.execute(insert('z')))
    await database.run((db) => db.execute(sql`select word from kept where word = ${'z'}`))
    refuses = true
    expect(await outcomeOf(database.transaction(work))).toContain('bogus')
    expect(await words()).toEqual(['z'])
    refuses = false
    expect(await outcomeOf(database.transaction((tx) => find(tx, 'z')))).toEqual([{ word: 'z' }])
  })

  test('by a statement that comes between the error and the end of its group', async () => {
    await using relay = await openRelay(
      (sent) => Buffer.from(sent.toString('latin1').replaceAll('begin ', 'bogus '), 'latin1'),
      30,
    )
    const { database } = relay
    await database.run((db) => db.execute(insert('z')))
    for (let waitMs = 0; waitMs < 100; waitMs += 10) {
      const failed = database.transaction(async (tx) => {
        await Bun.sleep(waitMs)
        await outcomeOf(tx.execute(insert(`${waitMs}`)))
        await outcomeOf(tx.execute(insert(`${waitMs}.`)))
      })
      expect(await outcomeOf(failed)).toContain('bogus')
      expect(await words()).toEqual(['z'])
    }
  })

  test('by a text of several statements', async () => {
    await using relay = await openRelay((sent) =>
      Buffer.from(sent.toString('latin1').replaceAll('begin ', 'bogus '), 'latin1'),
    )
    const client = postgres(relay.url, { max: 1, onnotice: () => {} })
    const texts = client.begin((tx) => tx.unsafe("insert into kept values ('a'); insert into kept values ('b')"))
    expect(await outcomeOf(texts)).toContain('bogus')
    expect(await words()).toEqual([])
    expect(await outcomeOf(client.unsafe('select 1 as one'))).toEqual([{ one: 1 }])
    await client.end({ timeout: 1 })
  })
})

test('a connection that is lost after statements were sent ahead fails the transaction and is replaced', async () => {
  await using relay = await openRelay()
  const { database } = relay
  const lost = database.transaction(async (tx) => {
    const [row] = await tx.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`)
    sendAhead(tx, insert('a'))
    await admin`select pg_terminate_backend(${row!.pid}, 5000)`
    sendAhead(tx, insert('b'))
  })
  expect(await outcomeOf(lost)).toMatch(/CONNECTION_CLOSED|terminating/)
  await waitUntil('a new connection', async () => {
    const kept = database.transaction(async (tx) => sendAhead(tx, insert('c')))
    return (await outcomeOf(kept)) === undefined
  })
  expect(await words()).toEqual(['c'])
})

test('a statement of a transaction that has ended is refused', async () => {
  await using relay = await openRelay()
  let ended: Tx | undefined
  await relay.database.transaction(async (tx) => {
    ended = tx
  })
  expect(await outcomeOf(ended!.execute(insert('late')))).toContain('has ended')
  expect(await words()).toEqual([])
})

describe('a statement that begins after the end of its transaction was sent', () => {
  /** Starts `late` so many microtasks after the transaction's last statement. */
  const after = async (depth: number, late: () => Promise<unknown>): Promise<unknown> => {
    for (let turn = 0; turn < depth; turn++) await undefined
    return late()
  }
  const depths = Array.from({ length: 30 }, (_, depth) => depth)

  test('is not executed after a rollback', async () => {
    await using relay = await openRelay()
    await relay.database.run((db) => db.execute(insert('z')))
    const late: Promise<unknown>[] = []
    for (const depth of depths) {
      const failed = relay.database.transaction(async (tx) => {
        await find(tx, 'z')
        late.push(outcomeOf(after(depth, () => tx.execute(insert(`${depth}`)))))
        throw new Error('no')
      })
      expect(await outcomeOf(failed)).toBe('no')
    }
    await Promise.all(late)
    expect(await words()).toEqual(['z'])
  })

  test('is refused while the commit is in flight', async () => {
    await using relay = await openRelay()
    const late = Promise.withResolvers<unknown>()
    await relay.database.transaction(async (tx) => {
      await find(tx, 'z')
      setTimeout(() => late.resolve(outcomeOf(tx.execute(insert('late')))), 20)
      sendAhead(tx, sql`select pg_sleep(0.2)`)
    })
    expect(await late.promise).toContain('has ended')
    expect(await words()).toEqual([])
  })
})

describe('if a statement that is sent ahead cannot be written, nothing is committed', () => {
  const unwritable = sql`insert into kept values (${sql.param({
    toString: () => {
      throw new Error('unwritable')
    },
  })})`
  const works: [string, (tx: Tx) => unknown][] = [
    ['as the first one', (tx) => sendAhead(tx, unwritable)],
    [
      'between others',
      (tx) => {
        sendAhead(tx, insert('a'))
        sendAhead(tx, unwritable)
        sendAhead(tx, insert('b'))
      },
    ],
    [
      'while another statement is not awaited',
      async (tx) => {
        sendAhead(tx, insert('a'))
        sendAhead(tx, unwritable)
        sendAhead(tx, insert('b'))
        void outcomeOf(find(tx, 'a'))
        await Bun.sleep(5)
      },
    ],
    [
      'after a result',
      async (tx) => {
        await tx.execute(insert('a'))
        sendAhead(tx, unwritable)
      },
    ],
    [
      'before a statement that waits',
      async (tx) => {
        sendAhead(tx, unwritable)
        await outcomeOf(tx.execute(insert('a')))
      },
    ],
  ]
  test.each(works)('%s', async (_, work) => {
    await using relay = await openRelay((sent) => sent, 20)
    const { database } = relay
    for (const kept of [[], ['z']]) {
      for (const word of kept) await database.run((db) => db.execute(insert(word)))
      expect(await outcomeOf(database.transaction((tx) => work(tx)))).toContain('unwritable')
      expect(await words()).toEqual(kept)
      expect(await outcomeOf(database.read((db) => db.execute(sql`select 1 as one`)))).toEqual([{ one: 1 }])
    }
  })
})

test('a transaction that hangs before its first statement loses its connection like any other', async () => {
  await using relay = await openRelay()
  const { database } = relay
  void outcomeOf(database.transaction(() => new Promise(() => {})))
  await waitUntil('a connection', async () => {
    const read = await outcomeOf(database.read((db) => db.execute(sql`select 1 as one`)))
    return Array.isArray(read)
  })
})

test('a transaction that fails after the lifetime of its connection fails with its own error', async () => {
  const client = postgres(server.adminUrl, { max: 1, max_lifetime: 0.02, onnotice: () => {} })
  const works: [string, (tx: TransactionSql) => Promise<unknown>][] = [
    ['no', () => Promise.reject(new Error('no'))],
    ['division by zero', (tx) => tx`select 1 / ${0}::int`],
    ['violates foreign key', (tx) => tx`insert into owing values (1, 2)`],
  ]
  for (const [said, work] of works) {
    const failed = client.begin(async (tx) => {
      await tx`select`
      await Bun.sleep(100)
      await work(tx)
    })
    expect(await outcomeOf(failed)).toContain(said)
    expect(await outcomeOf(client`select 1 as one`)).toEqual([{ one: 1 }])
  }
  await client.end({ timeout: 1 })
})
