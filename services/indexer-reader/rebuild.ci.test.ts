import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { openRpcProxy, type RpcProxy } from '#test/support/rpc-proxy'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { waitUntil } from '#test/support/wait'
import { beginGeneration, cursors } from './cursor.store'
import { events } from './event.store'
import { ana, askRecord, openTestChain, openTestDatabase, playStory, startReader, type TestChain } from './test-support'

let postgres: ScratchPostgres
let chain: TestChain
let proxy: RpcProxy
let store: Awaited<ReturnType<typeof openTestDatabase>>
let running: ReturnType<typeof startReader>

beforeAll(async () => {
  ;[postgres, chain] = await Promise.all([startScratchPostgres(), openTestChain()])
  await playStory(chain)
  proxy = openRpcProxy({ target: chain.rpcUrl })
  store = await openTestDatabase(postgres, 'rebuild')
  running = startReader({ database: store.database, chain, rpcUrls: [proxy.url], logsRangeMax: 1 })
})
afterAll(async () => {
  await running.stop()
  await store.database[Symbol.asyncDispose]()
  await proxy[Symbol.asyncDispose]()
  await Promise.all([postgres[Symbol.asyncDispose](), chain.close()])
})

const ask = () => askRecord(running.context, ana)
const generations = () => store.database.read((db) => db.select().from(cursors).orderBy(cursors.generation))
const states = async () => (await generations()).map((cursor) => cursor.state)
const answered = async () => {
  const answer = await ask()
  return 'ok' in answer ? answer.ok : undefined
}

test('a first projection refuses requests until it has reached the head', async () => {
  proxy.setFaults({ hangRate: 1 })
  await waitUntil('a generation', async () => (await states()).length === 1)
  expect(await ask()).toEqual({ refused: 'indexer_lags' })
  proxy.setFaults({ hangRate: 0 })
  await waitUntil('an answer', answered)
})

test('a rebuild fills a new generation while the old one answers, then replaces it', async () => {
  const before = await waitUntil('an answer', answered)
  proxy.setFaults({ delayMs: 25 })
  await beginGeneration(store.database, running.context.origin)
  let answers = 0
  while ((await states()).join() !== 'retired,serving') {
    const answer = await ask()
    expect(answer).toMatchObject({ ok: { history: before.history } })
    answers += 1
  }
  expect(answers).toBeGreaterThan(3)
  proxy.setFaults({ delayMs: 0 })
  expect((await waitUntil('an answer', answered)).history).toEqual(before.history)
  const [old, fresh] = await generations()
  expect(fresh!.sequence).toBe(old!.sequence)
})

test('a rebuild requested twice is one rebuild', async () => {
  proxy.setFaults({ delayMs: 50 })
  const [first, second] = await Promise.all([
    beginGeneration(store.database, running.context.origin),
    beginGeneration(store.database, running.context.origin),
  ])
  expect(second).toBe(first)
  proxy.setFaults({ delayMs: 0 })
  await waitUntil('its end', async () => (await states()).join() === 'retired,retired,serving')
})

test('the command waits until the new generation serves, and cleans up if it may', async () => {
  const command = Bun.spawn([process.execPath, join(import.meta.dir, 'rebuild.ts'), '--clean'], {
    env: {
      DATABASE_URL: store.adminUrl,
      CHAIN_ID: '10143',
      CREDIT_LINE_ADDRESS: chain.deployment.creditLine,
      DEPLOY_BLOCK: String(chain.deployment.deployBlock),
    },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  expect(await new Response(command.stderr).text()).toBe('')
  expect(await command.exited).toBe(0)
  expect(await states()).toEqual(['serving'])
  const kept = await store.database.read((db) =>
    db.select({ generation: events.generation }).from(events).groupBy(events.generation),
  )
  expect(kept).toHaveLength(1)
  expect(await answered()).toBeDefined()
})

test('a chain that replaced final blocks is refused, because they are never undone', async () => {
  const serving = async () => (await generations()).find(({ state }) => state === 'serving')
  const id = await chain.client.snapshot()
  await chain.mine(10)
  const head = Number(await chain.client.getBlockNumber())
  await waitUntil('its end', async () => ((await serving())?.blockNumber ?? 0) >= head - 2)
  await chain.client.revert({ id })
  await chain.warp(10)
  await chain.draw(ana, 1_000_000n)
  await chain.mine(13)
  const said = () => running.context.figures.lastError?.match(/does not continue our block/)
  await waitUntil('the refusal', said)
  expect(await states()).toEqual(['serving'])
})

test('the service itself may delete nothing', async () => {
  const attempt = store.database.run((db) => db.execute(sql`delete from indexer_reader.events`))
  await expect(attempt).rejects.toThrow()
})

test('a request is refused once nothing has moved for longer than the limit', async () => {
  const { moved_at } = (
    await store.database.read((db) =>
      db.execute<{ moved_at: string }>(sql`select moved_at from indexer_reader.cursors where state = 'serving'`),
    )
  )[0]!
  const movedMs = Date.parse(moved_at)
  const { context } = running
  const at = (nowMs: number) => askRecord(context, ana, { nowMs: () => nowMs, lagMaxMs: 5_000 })
  expect(await at(movedMs + 4_000)).toHaveProperty('ok')
  expect(await at(movedMs + 5_001)).toEqual({
    refused: 'indexer_lags',
  })
})

test.each([
  ['never seen', `0x${'d'.repeat(40)}`],
  ['never seen, in capitals', `0x${'D'.repeat(40)}`],
])('a wallet %s has an empty record', async (_what, wallet) => {
  expect(await askRecord(running.context, wallet, { lagMaxMs: 600_000 })).toMatchObject({
    ok: { history: { score: '0', cycleCount: 0, firstSeenAt: null, cycles: [] } },
  })
})
