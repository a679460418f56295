import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { actors } from '#test/support/contracts'
import type { Task } from '../operations/operation'
import { round } from '../rounds'
import { newRefId, openFixture, until } from '../test-support'

const fixture = await openFixture()
afterAll(fixture.close)
afterEach(() => {
  fixture.endpoint.intercept = undefined
})
const credits = (count: number) =>
  Array.from(
    { length: count },
    (): Task => ({
      kind: 'credit',
      payload: { refId: newRefId(), wallet: actors.ana.address, ausd: '1000000', held: false },
    }),
  )

/** How often each method was called until all of so many transactions were final. */
async function callsUntilFinal(count: number) {
  const context = await fixture.begin({ batchMax: 1 })
  const calls = new Map<string, number>()
  fixture.endpoint.intercept = (method, _, [call]) => {
    const isSimulation = method === 'eth_call' && (call as { from?: string }).from !== undefined
    const name = isSimulation ? 'simulation' : method
    calls.set(name, (calls.get(name) ?? 0) + 1)
    return undefined
  }
  await round(context)
  const tasks = credits(count)
  for (const task of tasks) await fixture.command(task)
  await until(async () => {
    await round(context)
    const rows = await Promise.all(tasks.map((task) => fixture.operationOf(task)))
    return rows.every(({ state }) => state === 'settled')
  }, 'the end of all')
  fixture.endpoint.intercept = undefined
  return calls
}

const noMethod = () =>
  Response.json({ jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'no method' } })

/** Asks about one transaction. */
const single = ['eth_getTransactionReceipt', 'eth_getTransactionByHash']

describe('what becomes final', () => {
  test('is read with its block: nothing is asked about single transactions, however many they are', async () => {
    // On a machine where many blocks pass between two rounds they are counted instead: so slower
    // blocks, and once more if need be.
    await fixture.chain.setIntervalMining({ interval: 1 })
    await until(
      async () => {
        const calls = await callsUntilFinal(12)
        expect(calls.get('eth_sendRawTransaction')).toBeGreaterThanOrEqual(12)
        return single.every((method) => !calls.has(method))
      },
      'twelve becoming final without being asked for one by one',
      90_000,
    )
  })

  test('is not what a receipt says whose block is another by now', async () => {
    const context = await fixture.begin({ batchMax: 1 })
    let lies = 0
    fixture.endpoint.intercept = (method, forward) => {
      if (method === 'eth_getBlockReceipts') return Promise.resolve(noMethod())
      if (method !== 'eth_getTransactionReceipt') return undefined
      return forward().then(async (reply) => {
        const answer = (await reply.json()) as { result: { blockHash: string } | null }
        if (!answer.result) return Response.json(answer)
        lies += 1
        const result = { ...answer.result, blockHash: `0x${'ab'.repeat(32)}` }
        return Response.json({ ...answer, result })
      })
    }
    const [task] = credits(1)
    await fixture.command(task!)
    await until(async () => {
      await round(context)
      return lies > 2
    }, 'receipts of a block that is gone')
    expect((await fixture.operationOf(task!)).state).toBe('assigned')
    fixture.endpoint.intercept = undefined
    expect((await fixture.finish(context, task!)).state).toBe('settled')
  })

  test('is asked for one by one where an endpoint gives no receipts of a block', async () => {
    const context = await fixture.begin({ batchMax: 1 })
    fixture.endpoint.intercept = (method) =>
      method === 'eth_getBlockReceipts' ? Promise.resolve(noMethod()) : undefined
    const tasks = credits(3)
    for (const task of tasks) await fixture.command(task)
    for (const task of tasks) expect((await fixture.finish(context, task)).state).toBe('settled')
  })
})
