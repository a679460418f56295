import { afterAll, beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import postgres, { type Sql } from 'postgres'
import { readTrace } from '#infra/operations/timeline/trace'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { listDuplicates } from './decide'

let server: ScratchPostgres
let owner: Sql
let sql: Sql
const walletOf = (name: string) => `0x${Buffer.from(name.padEnd(20, '.')).toString('hex')}`
const hour = (of: number) => new Date(Date.UTC(2026, 2, 10, of))

beforeAll(async () => {
  server = await startScratchPostgres()
  owner = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
  sql = postgres(server.urlAs('ops', server.passwords.ops), { max: 2, onnotice: () => {} })
})
afterAll(async () => {
  await Promise.all([owner, sql].map((one) => one?.end({ timeout: 1 })))
  await server?.[Symbol.asyncDispose]()
})

const identity = (name: string, state: string, decided: number, flagged: number | null = null) => owner`
  insert into gateway.identities (wallet, state, provider, decided_at, same_as, revision, flag_settled_at)
  values (${walletOf(name)}, ${state}, 'sumsub', ${hour(decided)}, ${state === 'duplicate' ? walletOf('first') : null}, 1,
    ${flagged === null ? null : hour(flagged)})`
const decision = (name: string, ruling: string, ruled: number) => owner`
  insert into gateway.persons (wallet, ruling, linked_to, deed, ruled_at)
  values (${walletOf(name)}, ${ruling}, ${ruling === 'linked' ? walletOf('first') : null}, ${randomUUID()}, ${hour(ruled)})`

test('a duplicate waits for a decision also after its decision was taken back, and is listed with its latest time', async () => {
  await identity('linked', 'duplicate', 1)
  await decision('linked', 'linked', 4)
  await identity('waiting', 'duplicate', 2)
  await identity('restored', 'duplicate', 1)
  await decision('restored', 'restored', 3)
  const listed = (await listDuplicates(sql)).map(({ wallet, ruling, since }) => [wallet, ruling, since])
  expect(listed).toEqual([
    [walletOf('waiting'), null, hour(2)],
    [walletOf('restored'), null, hour(3)],
    [walletOf('linked'), 'linked', hour(4)],
  ])
})

test('the trace of a wallet never calls it verified on the chain after its flag was withdrawn', async () => {
  await identity('verified', 'verified', 5, 6)
  await identity('withdrawn', 'withdrawn', 5, 7)
  const factsOf = async (name: string) => {
    const bus = () => Promise.reject(new Error('not asked'))
    return (await readTrace({ sql, bus }, walletOf(name))).items[0]?.facts
  }
  expect(await factsOf('verified')).toEqual({ 'verified on the chain': hour(6).toISOString() })
  expect(await factsOf('withdrawn')).toEqual({ 'withdrawn on the chain': hour(7).toISOString() })
})
