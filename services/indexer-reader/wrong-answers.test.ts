import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { type ChangeResult, openRpcFilter } from '#test/support/engines/rpc-filter'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { waitUntil } from '#test/support/wait'
import { liveCursors } from './cursor.store'
import { historyOf } from './record'
import {
  ana,
  askRecord,
  openTestChain,
  openTestDatabase,
  playMore,
  standingOf,
  startReader,
  type TestChain,
} from './test-support'

type Fields = Record<string, unknown>
let postgres: ScratchPostgres
let chain: TestChain
let store: Awaited<ReturnType<typeof openTestDatabase>>
let running: ReturnType<typeof startReader>
let distort: ChangeResult
let filter: ReturnType<typeof openRpcFilter>

beforeAll(async () => {
  ;[postgres, chain] = await Promise.all([startScratchPostgres(), openTestChain()])
  filter = openRpcFilter(chain.rpcUrl, (call, result) => distort(call, result))
  await chain.verify(ana)
  await chain.fund(ana, 10n ** 9n)
  await chain.topUp(ana, 10n ** 9n)
  await playMore(chain, 1)
})
afterAll(async () => {
  await Promise.all([postgres[Symbol.asyncDispose](), chain.close()])
  await filter[Symbol.asyncDispose]()
})

let suffix = 0
beforeEach(async () => {
  store = await openTestDatabase(postgres, `wrong_${++suffix}`)
})
afterEach(async () => {
  await running?.stop()
  await store.database[Symbol.asyncDispose]()
})

const inLogs =
  (change: (log: Fields) => unknown): ChangeResult =>
  ({ method }, result) =>
    method === 'eth_getLogs' ? (result as Fields[]).map(change) : result
const inHeads =
  (change: Fields): ChangeResult =>
  ({ method, params }, result) =>
    method === 'eth_getBlockByNumber' && params[0] !== '0x0' ? { ...(result as Fields), ...change } : result
const both =
  (...all: ChangeResult[]): ChangeResult =>
  (call, result) =>
    all.reduce((distorted, one) => one(call, distorted), result)
const untimed = inLogs((log) => ({ ...log, blockTimestamp: null }))

describe('an answer that cannot be right does not enter the record, and another endpoint is asked:', () => {
  test.each<[string, ChangeResult]>([
    ['a log that is null', inLogs(() => null)],
    ['a log without topics', inLogs((log) => ({ ...log, topics: null }))],
    ['a log without data', inLogs((log) => ({ ...log, data: '0x' }))],
    [
      'a log with a word that is no number',
      inLogs((log) => ({ ...log, data: `${log.data}`.replace(/.{64}$/, 'z'.repeat(64)) })),
    ],
    ['a log without its index', inLogs((log) => ({ ...log, logIndex: null }))],
    ['a log without its block', inLogs((log) => ({ ...log, blockNumber: null }))],
    ['a log without its transaction', inLogs((log) => ({ ...log, transactionHash: null }))],
    ['a log of 1970', inLogs((log) => ({ ...log, blockTimestamp: '0x0' }))],
    ['a log of another century', inLogs((log) => ({ ...log, blockTimestamp: '0xffffffffff' }))],
    ['a block without its time', both(untimed, inHeads({ timestamp: null }))],
    ['a block of 1970', both(untimed, inHeads({ timestamp: '0x0' }))],
    ['a block of no time', both(untimed, inHeads({ timestamp: 'soon' }))],
    ['a block without its hash', inHeads({ hash: null })],
    ['a block with a huge number', inHeads({ number: `0x${'f'.repeat(40)}` })],
    ['a block with no number', inHeads({ number: 'latest' })],
  ])('%s', async (_, distortion) => {
    distort = distortion
    const rpcUrls = [filter.url, chain.rpcUrl]
    running = startReader({ database: store.database, chain, rpcUrls })
    const standing = await standingOf(chain, ana)
    const { open, closed } = standing
    const history = historyOf(standing, open ? [...closed, open] : closed)
    const answer = () => askRecord(running.context, ana)
    await waitUntil('an answer', async () => 'ok' in (await answer()))
    expect(await answer()).toMatchObject({ ok: { history } })
    const [cursor] = await store.database.read(liveCursors)
    expect(cursor!.sequence).toBe(await chain.sequence())
  })
})

test.each<[string, (logs: Fields[]) => Fields[]]>([
  ['in the order of newest first', (logs) => logs.toReversed()],
  ['that come twice', (logs) => logs.flatMap((log) => [log, log])],
])('logs %s enter the record, without another endpoint', async (_, change) => {
  distort = ({ method }, result) => (method === 'eth_getLogs' ? change(result as Fields[]) : result)
  running = startReader({ database: store.database, chain, rpcUrls: [filter.url] })
  await waitUntil('an answer', async () => 'ok' in (await askRecord(running.context, ana)))
  const [cursor] = await store.database.read(liveCursors)
  expect(cursor!.sequence).toBe(await chain.sequence())
})
