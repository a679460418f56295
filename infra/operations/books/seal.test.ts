import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import postgres, { type Sql } from 'postgres'
import { openLog } from '#platform/log'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { verifiedText } from '../cli/books'
import { sealJournals, verifySeals } from './seal'
import { openSealing } from './sealing'

let server: ScratchPostgres
let admin: Sql
let books: Sql
let ops: Sql
beforeAll(async () => {
  server = await startScratchPostgres()
  const open = (url: string, max: number) => postgres(url, { max, onnotice: () => {} })
  admin = open(server.adminUrl, 2)
  const operations = new URL(server.urlAs('operations', server.passwords.operations))
  operations.searchParams.set('options', '-c role=books')
  books = open(operations.toString(), 2)
  ops = open(server.urlAs('ops', server.passwords.ops), 1)
})
afterAll(async () => {
  for (const sql of [admin, books, ops]) await sql?.end({ timeout: 1 })
  await server?.[Symbol.asyncDispose]()
})
beforeEach(async () => {
  await tampering(async (tx) => {
    await tx`truncate books.seals, payments.journal, payouts.journal, chain_relayer.journal, books.journal`
  })
})

/** Changes a journal as somebody with the password of the owner can, who switches its triggers off. */
const tampering = (change: (tx: Sql) => Promise<unknown>) =>
  admin.begin(async (tx) => {
    await tx`set local session_replication_role = replica`
    await change(tx as unknown as Sql)
  })
const book = (posting: string, sql: Sql = admin) => sql`
  insert into payments.journal (posting, line, event, item, account, asset, amount)
  values (${posting}, 0, 'paid', ${posting}, 'treasury', 'AUSD', 5), (${posting}, 1, 'paid', ${posting}, 'suspense', 'AUSD', -5)`
const paymentsOf = async (sql = ops) => (await verifySeals(sql)).find(({ journal }) => journal === 'payments')!

/** Books and seals three times, and returns the state, which is whole. */
async function sealed() {
  for (const posting of ['b', 'a', 'c']) {
    await book(posting)
    await sealJournals(books)
  }
  const state = await paymentsOf()
  expect(state).toMatchObject({ seals: 3, lines: 6, differs: null })
  return state
}

test('each seal has the lines since the last one, and nothing is sealed twice', async () => {
  expect(await sealJournals(books)).toEqual([])
  await book('a')
  await book('b')
  expect(await sealJournals(books)).toMatchObject([{ journal: 'payments', number: 1, lines: 4 }])
  expect(await sealJournals(books)).toEqual([])
  await book('c')
  const [second] = await sealJournals(books)
  expect(second).toMatchObject({ journal: 'payments', number: 2, lines: 2 })
  const unsealed = { lines: 0, since: null, isOverdue: false }
  expect(await paymentsOf()).toEqual({
    journal: 'payments',
    seals: 2,
    lines: 6,
    head: second!.hash,
    differs: null,
    unsealed,
  })
  expect((await verifySeals(ops)).find(({ journal }) => journal === 'payouts')).toMatchObject({ seals: 0, head: null })
})

test('a transaction that is open while others are sealed is part of a later seal', async () => {
  const begun = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const slow = admin.begin(async (tx) => {
    await book('slow', tx as unknown as Sql)
    begun.resolve()
    await goOn.promise
  })
  await begun.promise
  await book('quick')
  // The quick one began later, and waits with it.
  expect(await sealJournals(books)).toEqual([])
  goOn.resolve()
  await slow
  expect(await sealJournals(books)).toMatchObject([{ number: 1, lines: 4 }])
  expect((await paymentsOf()).differs).toBeNull()
})

test('lines that were booked before there were seals are part of the first', async () => {
  await book('old')
  await tampering((tx) => tx`update payments.journal set booked_in = null`)
  await book('new')
  expect(await sealJournals(books)).toMatchObject([{ number: 1, lines: 4 }])
  await book('newer')
  expect(await sealJournals(books)).toMatchObject([{ number: 2, lines: 2 }])
  expect((await paymentsOf()).differs).toBeNull()
})

test('a correction is a new posting, and differs from no seal', async () => {
  await sealed()
  await admin`
    insert into payments.journal (posting, line, event, item, account, asset, amount, reverses)
    values ('a2', 0, 'reversed', 'a', 'treasury', 'AUSD', -5, 'a'), ('a2', 1, 'reversed', 'a', 'suspense', 'AUSD', 5, 'a')`
  await sealJournals(books)
  expect(await paymentsOf()).toMatchObject({ seals: 4, lines: 8, differs: null })
})

describe('the first seal that differs is named after', () => {
  test.each<[string, (tx: Sql) => Promise<unknown>, object]>([
    [
      'a changed amount',
      (tx) => tx`update payments.journal set amount = 6 where posting = 'a' and line = 0`,
      { number: 2, sealed: 2, found: 2 },
    ],
    ['a changed reason', (tx) => tx`update payments.journal set event = 'other' where posting = 'a'`, { number: 2 }],
    [
      'a changed time',
      (tx) => tx`update payments.journal set booked_at = now() - interval '1 day' where posting = 'a'`,
      { number: 2 },
    ],
    [
      'a deleted posting',
      (tx) => tx`delete from payments.journal where posting = 'b'`,
      { number: 1, sealed: 2, found: 0 },
    ],
    [
      'a posting moved to a later seal',
      (tx) =>
        tx`update payments.journal set booked_in = (select max(booked_in) from payments.journal) where posting = 'a'`,
      { number: 2 },
    ],
    [
      'a posting inserted behind',
      (
        tx,
      ) => tx`insert into payments.journal select 'z', line, event, item, account, asset, amount, reverses, booked_at, booked_in
        from payments.journal where posting = 'c'`,
      { number: 3, sealed: 2, found: 4 },
    ],
    [
      'a posting inserted without a transaction',
      (
        tx,
      ) => tx`insert into payments.journal select 'z', line, event, item, account, asset, amount, reverses, booked_at, null
        from payments.journal where posting = 'c'`,
      { number: 1, found: 4 },
    ],
    ['a changed seal', (tx) => tx`update books.seals set hash = 'f' where number = 2`, { number: 2 }],
    ['a removed seal', (tx) => tx`delete from books.seals where number = 2`, { number: 2 }],
    [
      'a seal with other bounds',
      (tx) => tx`update books.seals set to_transaction = to_transaction + 1 where number = 1`,
      { number: 1 },
    ],
  ])('%s', async (_, change, differs) => {
    await sealed()
    await tampering(change)
    expect((await paymentsOf()).differs).toMatchObject(differs)
  })
})

test('seals that were all made again have another last hash than the log', async () => {
  const { head } = await sealed()
  await tampering(async (tx) => {
    await tx`update payments.journal set amount = case line when 0 then 6 else -6 end where posting = 'a'`
    await tx`truncate books.seals`
  })
  await sealJournals(books)
  const again = await paymentsOf()
  expect(again.differs).toBeNull()
  expect(again.head).not.toBe(head)
})

test('lines that wait for their seal are counted, and raise an alarm once one has waited for an hour', async () => {
  const alarms: object[] = []
  const log = openLog('operations', 'error', { write: (line) => alarms.push(JSON.parse(line)) })
  const seal = openSealing(books, log)
  const begun = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const slow = admin.begin(async (tx) => {
    await tx`select pg_current_xact_id()`
    begun.resolve()
    await goOn.promise
  })
  await begun.promise
  await book('a')
  await seal()
  expect(verifiedText(await paymentsOf())).toContain('nothing is sealed yet: 2 newer lines since')
  expect([(await paymentsOf()).unsealed, alarms]).toMatchObject([{ lines: 2, isOverdue: false }, []])
  await tampering((tx) => tx`update payments.journal set booked_at = booked_at - interval '61 minutes'`)
  await seal()
  expect(alarms).toMatchObject([{ journal: 'payments', lines: 2, msg: 'postings are not sealed' }])
  expect(verifiedText(await paymentsOf())).toContain('should be sealed')
  goOn.resolve()
  await slow
  await seal()
  expect(await paymentsOf()).toMatchObject({ seals: 1, unsealed: { lines: 0, since: null } })
})

test('security: the process notices that the last seals were removed, or made again of changed lines', async () => {
  const alarms: object[] = []
  const log = openLog('operations', 'error', { write: (line) => alarms.push(JSON.parse(line)) })
  const seal = openSealing(books, log)
  await book('a')
  await seal()
  await book('b')
  await seal()
  await tampering(async (tx) => {
    await tx`update payments.journal set event = 'other' where posting = 'b'`
    await tx`delete from books.seals where number = 2`
  })
  await seal()
  expect((await paymentsOf()).differs).toBeNull()
  expect(alarms).toMatchObject([{ journal: 'payments', number: 2, sealed: 2, found: 0, msg: 'sealed postings differ' }])
})

test('security: a line that a service books under a later number is seen to be unsealed', async () => {
  const service = postgres(server.urlAs('payments', server.passwords.payments), { max: 1, onnotice: () => {} })
  await service`
    insert into payments.journal (posting, line, event, item, account, asset, amount, booked_in)
    values ('x', 0, 'paid', 'x', 'treasury', 'AUSD', 5, '4611686018427387904'), ('x', 1, 'paid', 'x', 'suspense', 'AUSD', -5, '4611686018427387904')`
  await service.end({ timeout: 1 })
  await book('a')
  await sealJournals(books)
  expect(await paymentsOf()).toMatchObject({ seals: 1, lines: 2, unsealed: { lines: 2 } })
})

test('two processes that seal at once make one chain', async () => {
  for (let turn = 0; turn < 5; turn++) {
    await book(`p${turn}`)
    await Promise.allSettled([sealJournals(books), sealJournals(books), sealJournals(books)])
  }
  await sealJournals(books)
  expect(await paymentsOf()).toMatchObject({ lines: 10, differs: null, unsealed: { lines: 0 } })
})

test('the process logs the hash of each seal, and raises an alarm for a seal that differs', async () => {
  const lines: object[] = []
  const log = openLog('operations', 'info', {
    write: (line) => {
      const { time: _, service: __, ...said } = JSON.parse(line)
      lines.push(said)
    },
  })
  await book('a')
  await openSealing(books, log)()
  const { head } = await paymentsOf()
  expect(lines).toEqual([{ level: 'info', journal: 'payments', seal: 1, lines: 2, hash: head, msg: 'journal sealed' }])
  await tampering((tx) => tx`delete from payments.journal`)
  await openSealing(books, log)()
  expect(lines.slice(1)).toEqual([
    { level: 'error', journal: 'payments', number: 1, sealed: 2, found: 0, alarm: true, msg: 'sealed postings differ' },
  ])
})

test('neither the books nor a service can change a seal', async () => {
  await sealed()
  await expect(books`update books.seals set hash = 'f'`.execute()).rejects.toThrow('permission denied')
  await expect(books`delete from books.seals`.execute()).rejects.toThrow('permission denied')
})
