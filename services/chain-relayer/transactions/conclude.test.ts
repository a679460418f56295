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

/** How often each method was called until all of so many transactions were final, and in how many rounds. */
async function callsUntilFinal(count: number) {
  const context = await fixture.begin({ batchMax: 1 })
  const calls = new Map<string, number>()
  fixture.endpoint.intercept = (method, _, [call]) => {
    const isSimulation = method === 'eth_call' && (call as { from?: string }).from !== undefined
    const name = isSimulation ? 'simulation' : method
    calls.set(name, (calls.get(name) ?? 0) + 1)
    return undefined
  }
  const tasks = credits(count)
  for (const task of tasks) await fixture.command(task)
  let rounds = 0
  await until(async () => {
    await round(context)
    rounds++
    const rows = await Promise.all(tasks.map((task) => fixture.operationOf(task)))
    return rows.every(({ state }) => state === 'settled')
  }, 'the end of all')
  fixture.endpoint.intercept = undefined
  return { calls, rounds }
}

describe('what becomes final', () => {
  test('costs as many calls however much it is, besides sending and simulating', async () => {
    await callsUntilFinal(1)
    const [one, many] = [await callsUntilFinal(1), await callsUntilFinal(12)]
    const others = ({ calls, rounds }: typeof one) =>
      [...calls].reduce(
        (sum, [name, count]) =>
          name === 'simulation' || name === 'eth_sendRawTransaction' ? sum : sum + count,
        0,
      ) / rounds
    expect(many.calls.get('eth_sendRawTransaction')).toBeGreaterThanOrEqual(12)
    expect(others(many)).toBeLessThan(1.5 * others(one))
  })

  test('is asked for one by one where an endpoint gives no receipts of a block', async () => {
    const context = await fixture.begin({ batchMax: 1 })
    fixture.endpoint.intercept = (method) =>
      method === 'eth_getBlockReceipts'
        ? Promise.resolve(
            Response.json({ jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'no method' } }),
          )
        : undefined
    const tasks = credits(3)
    for (const task of tasks) await fixture.command(task)
    for (const task of tasks) expect((await fixture.finish(context, task)).state).toBe('settled')
  })
})
