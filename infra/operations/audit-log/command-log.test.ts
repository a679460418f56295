import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres, { type Sql } from 'postgres'
import { perform } from '#infra/operations/audit-log/perform'
import { withdrawnBy } from '#infra/operations/cli/approve'
import { openLog } from '#platform/log'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { openCommandLog } from './command-log'

let server: ScratchPostgres
let ops: Sql
let books: Sql
beforeAll(async () => {
  server = await startScratchPostgres()
  ops = postgres(server.urlAs('ops', server.passwords.ops), { max: 1, onnotice: () => {} })
  const operations = new URL(server.urlAs('operations', server.passwords.operations))
  operations.searchParams.set('options', '-c role=books')
  books = postgres(operations.toString(), { max: 1, onnotice: () => {} })
})
afterAll(async () => {
  for (const sql of [ops, books]) await sql?.end({ timeout: 1 })
  await server?.[Symbol.asyncDispose]()
})

const because = { reason: 'ticket 12', by: 'sari' }
const done = (verb: string, target: string, cause: string) =>
  perform({ sql: ops }, { verb, target, cause, ...because }, async () => ({ done: 'yes' }))

function opened() {
  const lines: object[] = []
  const log = openLog('operations', 'info', { write: (line) => lines.push(JSON.parse(line)) })
  return { lines, work: openCommandLog(books, log) }
}

test('a command that ops carries out itself is logged once, with what is needed to give it again after a restore', async () => {
  const { lines, work } = opened()
  await work()
  expect(lines).toEqual([])
  await done('unexplained accept', '0xab:3', 'acceptance 1')
  await done('reconcile explain', 'break 7', '1. Ana, until 2030-12-31T00:00:00.000Z: ticket 12')
  for (const verb of ['correct', 'rates release', 'unexplained reopen']) await done(verb, 'target', 'cause')
  await done('cashouts hold', 'a cash-out, which payouts logs', 'revision 1')
  await work()
  await work()
  const said = { ...because, outcome: 'done', said: 'yes', msg: 'outcome of a command by operator' }
  expect(lines).toMatchObject([
    { ...said, verb: 'unexplained accept', target: '0xab:3', cause: 'acceptance 1' },
    { ...said, verb: 'reconcile explain', target: 'break 7', cause: expect.stringContaining('2030-12-31') },
    { ...said, verb: 'correct' },
    { ...said, verb: 'rates release' },
    { ...said, verb: 'unexplained reopen' },
  ])
  const later = opened()
  await later.work()
  expect(later.lines).toHaveLength(5)
})

test('a withdrawn proposal is logged, and a refused command is not', async () => {
  const { lines, work } = opened()
  await work()
  const before = lines.length
  const refuse = (target: string, refused: string) =>
    perform({ sql: ops }, { verb: 'wallets clear', target, cause: 'c', ...because }, async () => ({ refused }))
  await refuse('a', 'not frozen')
  await refuse('b', `${withdrawnBy}dewi: it was settled`)
  await work()
  expect(lines.slice(before)).toMatchObject([{ verb: 'wallets clear', target: 'b', outcome: 'refused' }])
})
