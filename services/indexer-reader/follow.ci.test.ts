import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import type { Address } from 'viem'
import { pause } from '#platform/deadline'
import type { RpcFaults } from '#test/support/rpc-proxy'
import { openRpcProxy, type RpcProxy } from '#test/support/rpc-proxy'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { waitUntil } from '#test/support/wait'
import type { Context } from './context'
import { liveCursors } from './cursor.store'
import { sequenceOf } from './event'
import { fold, type WalletProjection } from './projection'
import { historyOf } from './record'
import {
  ana,
  askRecord,
  ausd,
  budi,
  citra,
  openTestChain,
  openTestDatabase,
  playMore,
  playStory,
  standingOf,
  startReader,
  type TestChain,
} from './test-support'

let postgres: ScratchPostgres
let chain: TestChain
let proxies: [RpcProxy, RpcProxy]
let store: Awaited<ReturnType<typeof openTestDatabase>>
let running: ReturnType<typeof startReader>

beforeAll(async () => {
  ;[postgres, chain] = await Promise.all([startScratchPostgres(), openTestChain()])
  await playStory(chain)
})
afterAll(async () => {
  await Promise.all([postgres[Symbol.asyncDispose](), chain.close()])
})

let suffix = 0
beforeEach(async () => {
  proxies = [openRpcProxy({ target: chain.rpcUrl }), openRpcProxy({ target: chain.rpcUrl })]
  store = await openTestDatabase(postgres, `follower_${++suffix}`)
})
afterEach(async () => {
  await running?.stop()
  await store.database[Symbol.asyncDispose]()
  for (const proxy of proxies) await proxy[Symbol.asyncDispose]()
})

const start = (faults: Partial<RpcFaults>, options: Partial<Parameters<typeof startReader>[0]> = {}) => {
  proxies[0].setFaults({ seed: 7, ...faults })
  running = startReader({
    database: store.database,
    chain,
    rpcUrls: [proxies[0].url],
    ...options,
  })
  return running.context
}

const historyNow = async (context: Context, wallet: Address) => {
  const answer = await askRecord(context, wallet)
  return 'ok' in answer ? answer.ok.history : answer
}

const historyOfAll = (standing: WalletProjection) =>
  historyOf(standing, [...standing.closed, ...(standing.open ? [standing.open] : [])])

/** Reads a history straight from the node, with viem's decoder. */
const historyOnChain = async (wallet: Address) => historyOfAll(await standingOf(chain, wallet))

const cursor = async () => (await store.database.read(liveCursors))[0]

/** Reads the stored events, of which those that name no account are left out. */
const stored = () =>
  store.database.read((db) =>
    db.execute<{ sequence: number }>(sql`
      select (args->>'sequence')::int as sequence from indexer_reader.events
      where generation = 1 order by block_number, log_index`),
  )

const untilEventsAgree = async () => {
  const events = (await Promise.all([ana, budi, citra].map(chain.eventsOf))).flat()
  const named = events.filter(({ wallet }) => wallet !== null).map(sequenceOf)
  const truth = named.sort((left, right) => left - right).map((sequence) => ({ sequence }))
  await waitUntil('the events', async () => Bun.deepEquals([...(await stored())], truth))
}

const untilRecordsAgree = async (context: Context) => {
  for (const wallet of [ana, budi, citra]) {
    const truth = await historyOnChain(wallet)
    await waitUntil(`the record of ${wallet}`, async () =>
      Bun.deepEquals(await historyNow(context, wallet), truth),
    ).catch(async (error) => {
      expect(await historyNow(context, wallet)).toEqual(truth)
      throw error
    })
  }
}

describe('the record matches the chain', () => {
  test('after a history with every outcome', async () => {
    const context = start({})
    await untilRecordsAgree(context)
    const history = (await historyNow(context, ana)) as { cycles: { outcome: string | null }[] }
    expect(history.cycles.map((cycle) => cycle.outcome)).toEqual([
      'Short',
      'Qualified',
      'Late',
      'Reversed',
      'Short',
      'Reversed',
      'Qualified',
      'Reversed',
      'Reversed',
      'Short',
      null,
    ])
    expect(await historyNow(context, budi)).toMatchObject({
      defaulted: true,
      cycles: [{ outcome: 'Defaulted' }],
    })
    const onChain = await chain.accountOf(ana)
    expect(history).toMatchObject({
      score: String(onChain.score),
      cycleCount: Number(onChain.cycles),
    })
  })

  test.each([
    ['answers 413 above 20 blocks', { logsRangeMax: 20, logsRangeStatus: 413 }, /limited to a 20/],
    ['allows one block at a time', { logsRangeMax: 1 }, /limited to a 1/],
    ['allows one log at a time', { logsResultsMax: 1 }, /more than 1 results/],
    ['answers 429 half of the time', { tooManyRequestsRate: 0.5 }, /429/],
    ['cuts connections', { disconnectRate: 0.5 }, /cannot be reached/],
    ['goes backwards now and then', { headBackRate: 0.5, headBackBlocks: 15 }, /finalized to/],
  ] satisfies [string, Partial<RpcFaults>, RegExp][])('although the endpoint %s', async (_what, faults, words) => {
    const errors = new Set<string | null>()
    const context = start(faults)
    await playMore(chain, 3)
    await waitUntil('the fault being met', () => {
      errors.add(context.figures.lastError)
      return [...errors].some((error) => error?.match(words))
    })
    await untilRecordsAgree(context)
  })

  test('although the endpoint lags, up to the block it has', async () => {
    const context = start({ headLagBlocks: 10 })
    const latest = Number(await chain.client.getBlockNumber())
    await waitUntil('the cursor', async () => (await cursor())?.blockNumber === latest - 12)
    proxies[0].setFaults({ headLagBlocks: 0 })
    await untilRecordsAgree(context)
  })
})

describe('logs that come later than their blocks', () => {
  type Sample = { history: unknown; block: number }

  /** Starts a reader whose endpoint sends logs late, but only once the record is whole. */
  async function openLate(lagBlocks: number) {
    const proxy = openRpcProxy({ target: chain.rpcUrl, faults: { seed: 7 } })
    const { database } = await openTestDatabase(postgres, `late_${lagBlocks}`)
    const reader = startReader({ database, chain, rpcUrls: [proxy.url] })
    await untilRecordsAgree(reader.context)
    proxy.setFaults({ logsClampBlocks: lagBlocks })
    const samples: Sample[] = []
    const refusals = { count: 0 }
    const asking = new AbortController()
    const asked = (async () => {
      while (!asking.signal.aborted) {
        const answer = await askRecord(reader.context, ana)
        if ('ok' in answer) {
          samples.push({ history: answer.ok.history, block: Number(answer.ok.blockNumber) })
        } else refusals.count++
        await pause(50, asking.signal)
      }
    })()
    return {
      lagBlocks,
      proxy,
      reader,
      samples,
      refusals,
      close: async () => {
        asking.abort()
        await asked
        await reader.stop()
        await database[Symbol.asyncDispose]()
        await proxy[Symbol.asyncDispose]()
      },
    }
  }

  test('leave no hole in any answer, whether 5, 45, 80 or 300 blocks late', async () => {
    // An older debt is repaid first, because it could become overdue: each block takes a second.
    await chain.repay(ana, 1_000n * ausd).catch(() => undefined)
    await chain.mine(2)
    const late: Awaited<ReturnType<typeof openLate>>[] = []
    for (const lagBlocks of [5, 45, 80, 300]) late.push(await openLate(lagBlocks))
    try {
      const lateUntil = Date.now() + 4_000
      while (Date.now() < lateUntil) {
        await playMore(chain, 1)
        await chain.mine(4)
      }
      for (const { lagBlocks, refusals } of late) {
        await waitUntil(`a refusal while ${lagBlocks} blocks late`, async () => {
          await chain.draw(ana, ausd)
          await chain.mine(3)
          return refusals.count > 0
        })
      }
      const truth = await historyOnChain(ana)
      for (const { proxy } of late) proxy.setFaults({ logsClampBlocks: 0 })
      for (const { reader, lagBlocks, samples } of late) {
        await waitUntil(`the record of the reader that was ${lagBlocks} late`, async () =>
          Bun.deepEquals(await historyNow(reader.context, ana), truth),
        )
        await waitUntil('an answer seen', () => samples.length > 0)
      }
    } finally {
      await Promise.all(late.map((one) => one.close()))
    }
    const events = await chain.eventsOf(ana)
    for (const { samples } of late) {
      for (const { history, block } of samples) {
        const standing = fold(events.filter(({ blockNumber }) => blockNumber <= block))
        expect(history).toEqual(historyOfAll(standing))
      }
    }
  })
})

describe('the record matches the chain', () => {
  test('although the endpoint dies, through the other one', async () => {
    const context = start({}, { rpcUrls: proxies.map((proxy) => proxy.url) })
    await untilRecordsAgree(context)
    await proxies[0][Symbol.asyncDispose]()
    await playMore(chain, 2)
    await untilRecordsAgree(context)
    const other = new URL(proxies[1].url).host
    await waitUntil('the other endpoint in use', async () => context.figures.endpoint === other)
  })

  test('although two readers write the same generation', async () => {
    const context = start({})
    const second = startReader({ database: store.database, chain, rpcUrls: [proxies[1].url] })
    await playMore(chain, 5)
    await untilRecordsAgree(context)
    await second.stop()
    await untilEventsAgree()
    expect((await cursor())?.sequence).toBe(await chain.sequence())
  })
})

describe('a reader that was stopped', () => {
  test('continues where it was', async () => {
    const first = start({})
    await untilRecordsAgree(first)
    await running.stop()
    await playMore(chain, 2)
    const calls = { ...proxies[0].journal.calls }
    const second = start({})
    await untilRecordsAgree(second)
    expect(proxies[0].journal.calls.eth_getLogs! - calls.eth_getLogs!).toBeLessThan(10)
  })
})

describe('while blocks wait to be written', () => {
  test('a failing endpoint makes the reader read its rows again, because another may have replaced it', async () => {
    // Time stands still, so nothing becomes due and no other read happens.
    const now = Date.now()
    let reads = 0
    const { database } = store
    const read: typeof database.read = (work) => {
      reads++
      return database.read(work)
    }
    await untilRecordsAgree(start({}, { clock: () => now, database: { ...database, read } }))
    const noted = (await cursor())!.blockNumber
    await chain.mine(3)
    await waitUntil('blocks being read', () => running.context.figures.finalized! > noted)
    expect((await cursor())!.blockNumber).toBe(noted)
    proxies[0].setFaults({ disconnectRate: 1 })
    await waitUntil('the fault', () => running.context.figures.lastError)
    const before = reads
    await waitUntil('the rows being asked', () => reads > before + 5)
  })
})

describe('another chain', () => {
  test.each([
    ['by its id', { chainId: 1 }],
    ['by its genesis', { genesisHash: `0x${'1'.repeat(64)}` }],
  ])('%s is not read', async (_what, options) => {
    const context = start({}, options)
    await waitUntil('a refusal', () => context.figures.lastError?.includes('another chain'))
    expect(await historyNow(context, ana)).toEqual({ refused: 'indexer_lags' })
    expect(proxies[0].journal.calls.eth_getLogs).toBeUndefined()
  })

  test('at the same contract address is not read further', async () => {
    await untilRecordsAgree(start({}))
    await running.stop()
    const other = await openTestChain()
    try {
      const behind = openRpcProxy({ target: other.rpcUrl })
      await other.mine(200)
      const context = start({}, { rpcUrls: [behind.url], genesisHash: 'unchecked' })
      await waitUntil('a refusal', () => /another chain|does not continue/.test(context.figures.lastError ?? ''))
      await behind[Symbol.asyncDispose]()
    } finally {
      await other.close()
    }
  })

  test('or another contract in the configuration stops the reader with a message', async () => {
    await untilRecordsAgree(start({}))
    await running.stop()
    const moved = {
      ...chain,
      deployment: { ...chain.deployment, creditLine: chain.deployment.ausd },
    }
    start({}, { chain: moved })
    await expect(running.ended).rejects.toThrow(/another chain, contract or deploy block/)
  })
})
