import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { StaticDecode } from 'typebox'
import type { IndexerDue } from '#shared/messages/indexer'
import type { Answer } from '#shared/refusals'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { beginGeneration, markIncomplete, moveCursor, promote } from './cursor.store'
import { answerDue } from './due'
import { cycles } from './record.store'
import { openTestDatabase } from './test-support'

let postgres: ScratchPostgres
let store: Awaited<ReturnType<typeof openTestDatabase>>
beforeAll(async () => {
  postgres = await startScratchPostgres()
  store = await openTestDatabase(postgres, 'due')
})
afterAll(async () => {
  await store?.database[Symbol.asyncDispose]()
  await postgres?.[Symbol.asyncDispose]()
})

const origin = { chainId: 1, contract: '0x', deployBlock: 1 }
const nowSeconds = 1_790_000_000
const clock = () => nowSeconds * 1_000
type Due = StaticDecode<(typeof IndexerDue)['answer']>

const ask = (request: object) =>
  answerDue({ ...store, origin, lagMaxMs: 60_000, clock }).answer({
    sinceSeconds: 100,
    untilSeconds: 1_000,
    after: null,
    ...request,
  } as never) as Promise<Answer<Due>>
const pageOf = (answer: Answer<Due>): Due => {
  if ('refused' in answer) throw new Error(answer.refused)
  return answer.ok
}

test('the open cycles that are due around now are listed by due date, page by page', async () => {
  const { database } = store
  const generation = await beginGeneration(database, origin)
  await database.transaction((tx) => promote(tx, generation))
  expect(await ask({})).toEqual({ refused: 'indexer_lags' })
  const head = { block: 9, hash: '0x9', atSeconds: nowSeconds, sequence: 1 } as never
  const cursor = { generation, sequence: 0 }
  await database.run((db) => moveCursor(db, cursor, { sequence: 1, head, atMs: clock() }))

  const walletOf = (at: number) => `0x${at.toString(16).padStart(40, '0')}` as const
  const cycle = (at: number, dueAtSeconds: number, rest: object = {}) => ({
    generation,
    wallet: walletOf(at),
    number: 2,
    openedAtSeconds: 5,
    dueAtSeconds,
    peakDrawnMicro: 1n,
    totalRepaidMicro: 0n,
    openTxHash: '0x1' as const,
    ...rest,
  })
  const many = Array.from({ length: 750 }, (_, at) => cycle(at, nowSeconds + (at % 7)))
  const others = [
    cycle(1_001, nowSeconds - 101),
    cycle(1_002, nowSeconds + 1_001),
    cycle(1_003, nowSeconds, { outcome: 'Late' as const }),
    cycle(1_004, nowSeconds, { generation: generation + 1 }),
  ]
  await database.run((db) => db.insert(cycles).values([...many, ...others]))

  const first = pageOf(await ask({}))
  expect(first).toMatchObject({ isLast: false, blockTime: String(nowSeconds) })
  expect(first.cycles[0]).toEqual({
    wallet: walletOf(0),
    number: 2,
    openedAt: '5',
    dueAt: String(nowSeconds),
  })
  const { dueAt, wallet } = first.cycles.at(-1)!
  const second = pageOf(await ask({ after: { dueAt, wallet } }))
  expect(second.isLast).toBe(true)
  const listed = [...first.cycles, ...second.cycles]
  const byDate = many.toSorted((left, right) => left.dueAtSeconds - right.dueAtSeconds)
  expect(listed.map((one) => one.wallet)).toEqual(byDate.map((one) => one.wallet))

  await database.run((db) => markIncomplete(db, { generation, sequence: 1 }))
  expect(await ask({})).toEqual({ refused: 'indexer_lags' })
})
