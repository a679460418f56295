import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { beginGeneration, promote } from './cursor.store'
import { answerDebt } from './debt'
import { commitEvents } from './follow'
import { ana, openTestChain, openTestDatabase, type TestChain } from './test-support'

let postgres: ScratchPostgres
let chain: TestChain
let store: Awaited<ReturnType<typeof openTestDatabase>>

beforeAll(async () => {
  ;[postgres, chain] = await Promise.all([startScratchPostgres(), openTestChain({ termSeconds: 30 * 86_400 })])
  store = await openTestDatabase(postgres, 'debt')
})
afterAll(async () => {
  await store?.database[Symbol.asyncDispose]()
  await Promise.all([postgres?.[Symbol.asyncDispose](), chain?.close()])
})

const origin = { chainId: 1, contract: '0x', deployBlock: 1 }
const nowMs = 1_790_000_000_000

test('a debt is as old as its part that was owed for all of the last day, by the chain', async () => {
  const generation = await beginGeneration(store.database, origin)
  let [from, sequence] = [1, 0]
  const ask = async () => {
    await chain.mine(1)
    const events = (await chain.eventsOf(ana)).filter(({ blockNumber }) => blockNumber >= from)
    const { number, timestamp } = await chain.client.getBlock()
    const to = Number(number)
    const atSeconds = Number(timestamp)
    const cursor = { generation, sequence }
    sequence += events.length
    const head = { block: to, hash: '0x', atSeconds, sequence } as const
    await commitEvents(store.database, cursor, events, { head, atMs: nowMs })
    if (from === 1) await store.database.transaction((tx) => promote(tx, generation))
    from = to + 1
    const clock = () => Math.max(nowMs, atSeconds * 1_000)
    const { answer } = answerDebt({ ...store, origin, lagMaxMs: 10 ** 13, clock })
    const wallet = ana.toLowerCase() as typeof ana
    const { owedForDay, openedAt } = ((await answer({ wallet })) as { ok: Record<string, string> }).ok
    return { owed: owedForDay, isOpen: openedAt !== null }
  }
  await chain.verify(ana)
  await chain.topUp(ana, 1_000_000_000n)
  await chain.fund(ana, 1_000_000_000n)
  expect(await ask()).toEqual({ owed: '0', isOpen: false })
  await chain.draw(ana, 100n)
  expect(await ask()).toEqual({ owed: '0', isOpen: true })
  await chain.warp(86_500)
  expect(await ask()).toEqual({ owed: '100', isOpen: true })
  await chain.draw(ana, 50n)
  expect(await ask()).toEqual({ owed: '100', isOpen: true })
  await chain.repay(ana, 120n)
  expect(await ask()).toEqual({ owed: '30', isOpen: true })
  await chain.draw(ana, 90n)
  expect(await ask()).toEqual({ owed: '30', isOpen: true })
  await chain.warp(86_500)
  expect(await ask()).toEqual({ owed: '120', isOpen: true })
  await chain.repay(ana, 120n)
  expect(await ask()).toEqual({ owed: '0', isOpen: false })
})
