import { describe, expect, test } from 'bun:test'
import { systemClock } from '#platform/clock'
import { BudgetExhausted, openTurns, rankOf } from '#shared/chain/turns'

const [best, second] = ['http://best', 'http://second'] as const
const among = [best, second]
const patienceMs = 5_000

const budgetOf = (requestsPerSecond: number, ethCallsPerSecond = requestsPerSecond) => ({
  requestsPerSecond,
  ethCallsPerSecond,
})
const ask = (methods: string | string[], more: { among?: string[]; patienceMs?: number } = {}) => ({
  methods: [methods].flat(),
  among,
  patienceMs,
  ...more,
})

describe('with a budget of 24 requests a second, of which 4 may be used at once', () => {
  test('the second endpoint is asked once the budget of the first is used up', async () => {
    const turns = openTurns(budgetOf(24), () => 0)
    const urls: string[] = []
    for (let turn = 0; turn < 8; turn++) urls.push((await turns.next(ask('eth_call'))).url)
    expect(urls).toEqual([best, best, best, best, second, second, second, second])
  })

  test('an eth_call goes to an endpoint with budget left, and other calls are not affected', async () => {
    const turns = openTurns(budgetOf(24, 6), () => 0)
    const urlOf = async (method: string) => (await turns.next(ask(method))).url
    expect(await urlOf('eth_call')).toBe(best)
    expect(await urlOf('eth_estimateGas')).toBe(second)
    expect(await urlOf('eth_getBlockByNumber')).toBe(best)
  })

  test('each call of a batch is counted, and the batch waits for the last of them', async () => {
    const time = { now: 0 }
    const turns = openTurns(budgetOf(24), () => time.now)
    const six = Array.from({ length: 6 }, () => 'eth_getBlockByNumber')
    const batch = turns.next(ask(six, { among: [best] }))
    // The batch waits for the budget of two more calls than may be spent at once, at 24 a second.
    time.now = 84
    expect(await batch).toEqual({ url: best, waited: true })
    expect((await turns.next(ask('eth_call'))).url).toBe(second)
  })

  test('a paused endpoint gets no calls until its pause ends', async () => {
    const time = { now: 0 }
    const turns = openTurns(budgetOf(24), () => time.now)
    turns.close(best, 1_000)
    expect((await turns.next(ask('eth_call'))).url).toBe(second)
    time.now = 1_000
    expect((await turns.next(ask('eth_call'))).url).toBe(best)
  })

  test('a call that cannot wait for the end of a pause fails at once', async () => {
    const turns = openTurns(budgetOf(24), () => 0)
    turns.close(best, 60_000)
    const alone = ask('eth_call', { among: [best] })
    await expect(turns.next(alone)).rejects.toThrow(BudgetExhausted)
  })
})

test('while budgets are used up, the most urgent call goes first, and equal ones by age', async () => {
  const time = { now: 0 }
  const turns = openTurns(budgetOf(60), () => time.now)
  turns.close(best, 100)
  const order: string[] = []
  const asked = ['eth_getLogs', 'eth_call', 'eth_getTransactionReceipt', 'eth_getCode']
  const methods = [...asked, 'eth_sendRawTransaction', 'eth_getTransactionCount']
  const asking = methods.map(async (method) => {
    await turns.next(ask(method, { among: [best] }))
    order.push(method)
  })
  time.now = 100
  await Promise.all(asking)
  expect(order).toEqual([
    'eth_sendRawTransaction',
    'eth_getTransactionReceipt',
    'eth_getTransactionCount',
    'eth_call',
    'eth_getCode',
    'eth_getLogs',
  ])
})

test('a call that is overtaken until its deadline fails', async () => {
  const turns = openTurns(budgetOf(6), systemClock)
  const first = turns.next(ask('eth_getBlockByNumber', { among: [best] }))
  const sweep = turns.next(ask('eth_getLogs', { among: [best], patienceMs: 300 }))
  const urgent = Array.from({ length: 3 }, () => turns.next(ask('eth_sendRawTransaction', { among: [best] })))
  await expect(sweep).rejects.toThrow(BudgetExhausted)
  expect(await Promise.all([first, ...urgent])).toHaveLength(4)
})

test.each([
  [['eth_sendRawTransaction'], 0],
  [['eth_getTransactionReceipt'], 1],
  [['eth_getTransactionCount'], 1],
  [['eth_getBlockByNumber'], 1],
  [['eth_call'], 2],
  [['eth_somethingNew'], 2],
  [['eth_getLogs'], 3],
  [['eth_getBlockByNumber', 'eth_getLogs'], 3],
] as const)('%p has rank %d', (methods, rank) => {
  expect(rankOf(methods)).toBe(rank)
})
