import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres, { type Sql } from 'postgres'
import type { RunningStack } from '#infra/local/stack'
import { rowsWritten } from './database'
import { type ScratchPostgres, startScratchPostgres } from './scratch-postgres'

let scratch: ScratchPostgres
let sql: Sql
beforeAll(async () => {
  scratch = await startScratchPostgres()
  sql = postgres(scratch.adminUrl, { max: 1, onnotice: () => {} })
})
afterAll(async () => {
  await sql?.end({ timeout: 1 })
  await scratch?.[Symbol.asyncDispose]()
})

test('a row that changes is seen as written, in every schema, and one of another wallet is not', async () => {
  await sql`insert into gateway.users (wallet, country) values ('0xana', 'ID'), ('0xbudi', 'ID')`
  const seen = (...about: string[]) => rowsWritten(scratch as unknown as RunningStack, ...about)
  const [all, hers, his] = [await seen(), await seen('0xANA', 'her quote'), await seen('0xbudi')]
  await sql`update gateway.users set country = 'MY' where wallet = '0xana'`
  expect(await seen()).not.toEqual(all)
  expect(await seen('0xANA', 'her quote')).not.toEqual(hers)
  expect(await seen('0xbudi')).toEqual(his)
  expect(Object.keys(all)).toContain('chain_relayer.operation')
})
