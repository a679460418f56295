import { afterAll, afterEach, expect, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import type { Hex } from 'viem'
import { openRpcEndpoints } from '#shared/chain/endpoints'
import { actorKeys } from '#test/support/contracts'
import { openNode } from '../chain/node'
import { relayOnce } from '../relay-loop'
import {
  cancelData,
  listening,
  newNonce,
  newRefId,
  newWallet,
  openFixture,
  recipient,
  take,
  transferData,
  until,
} from '../test-support'
import { searchOnce, usableSince } from './authorization-search'
import type { Task } from './operation'
import { operations } from './operation.table'

const fixture = await openFixture()
afterAll(fixture.close)
afterEach(() => {
  fixture.endpoint.intercept = undefined
})
const { chain, contracts, database } = fixture
const treasury = fixture.treasury.address

async function usedTake(key: Hex, more: { receivedAt?: string } = {}) {
  const signed = await fixture.sign(key, { to: treasury, value: 1n, nonce: newNonce() })
  const txHash = await fixture.submit(actorKeys.budi, contracts.ausd, transferData(signed))
  const task = take(signed)
  return { txHash, task: { ...task, payload: { ...task.payload, ...more } } }
}
const creditOfAnother = (): Task => ({
  kind: 'credit',
  payload: {
    refId: newRefId(),
    wallet: recipient,
    ausd: '1000000',
    held: false,
  },
})
const isDue = ({ payload }: { payload: { payoutId: string } }) =>
  database.run((db) =>
    db.update(operations).set({ notBefore: sql`now()` }).where(eq(operations.cause, payload.payoutId)),
  )
/** Returns the wallet whose authorization a log query searches for. */
const soughtIn = (method: string, params: readonly unknown[]) =>
  method === 'eth_getLogs' ? (params[0] as { topics: string[] }).topics[1]?.replace(/^0x0{24}/, '0x') : undefined

test("security: a look-up without a response does not delay another user's credit", async () => {
  const patient = openNode({ endpoints: openRpcEndpoints({ rpcUrls: [fixture.endpoint.url] }), chainId: 10143 }, 60_000)
  const context = { ...(await fixture.begin()), node: patient }
  const { key, address } = await newWallet(fixture)
  const { task, txHash } = await usedTake(key)
  const released = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  fixture.endpoint.intercept = (method, forward, params) => {
    if (soughtIn(method, params) !== address.toLowerCase()) return undefined
    asked.resolve()
    return released.promise.then(forward)
  }
  await fixture.command(task)
  let isAsked = false
  void asked.promise.then(() => {
    isAsked = true
  })
  // Neither round waits for the query, which never ends.
  const goOn = async () => {
    await relayOnce(context)
    await searchOnce(context, new Map())
  }
  await until(async () => {
    await Promise.race([goOn(), asked.promise])
    return isAsked
  }, 'the look-up')
  const order = creditOfAnother()
  await fixture.command(order)
  expect((await fixture.finish(context, order)).state).toBe('settled')
  expect((await fixture.operationOf(task)).state).toBe('waiting')
  released.resolve()
  expect(await fixture.finish(context, task)).toMatchObject({ state: 'settled', txHash })
})

test('a use from before the order is found when the cash-out was accepted earlier', async () => {
  const context = await fixture.begin()
  const { key } = await newWallet(fixture)
  const receivedAt = String((await chain.getBlock()).timestamp)
  const { task, txHash } = await usedTake(key, { receivedAt })
  await chain.mine({ blocks: 150, interval: 0 })
  await fixture.command(task)
  await database.run((db) =>
    db
      .update(operations)
      .set({ createdAt: sql`now() + interval '2 hours'` })
      .where(eq(operations.cause, task.payload.payoutId)),
  )
  expect(await fixture.finish(context, task)).toMatchObject({ state: 'settled', txHash })
})

test('a take whose use has a receipt without logs is not given up, with an alert, and settles with the logs', async () => {
  const context = listening(await fixture.begin())
  const { task, txHash } = await usedTake((await newWallet(fixture)).key)
  let bare = 0
  fixture.endpoint.intercept = (method, forward) => {
    if (method !== 'eth_getTransactionReceipt') return undefined
    return forward().then(async (reply) => {
      const answer = (await reply.json()) as { result: object }
      bare += 1
      return Response.json({ ...answer, result: { ...answer.result, logs: [] } })
    })
  }
  await fixture.command(task)
  const stateOf = async () => (await fixture.operationOf(task)).state
  await until(async () => {
    await relayOnce(context)
    await searchOnce(context, new Map())
    return (bare > 0 && context.memory.lookUps.size === 0) || (await stateOf()) !== 'waiting'
  }, 'a receipt without logs')
  expect(await stateOf()).toBe('waiting')
  const msg = 'authorization use not found'
  expect(context.raised).toMatchObject([{ msg, operationId: (await fixture.operationOf(task)).id }])
  fixture.endpoint.intercept = undefined
  await isDue(task)
  const later = listening(await fixture.begin())
  expect(await fixture.finish(later, task)).toMatchObject({ state: 'settled', txHash })
  expect(later.raised).toEqual([])
})

test('a use is found although the preferred endpoint omits its log for good', async () => {
  const { task, txHash } = await usedTake((await newWallet(fixture)).key)
  fixture.endpoint.intercept = (method) =>
    method === 'eth_getLogs' ? Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, result: [] })) : undefined
  const endpoints = openRpcEndpoints({ rpcUrls: [fixture.endpoint.url, fixture.rpcUrl] })
  const context = listening({ ...(await fixture.begin()), node: openNode({ endpoints, chainId: 10143 }) })
  await fixture.command(task)
  expect(await fixture.finish(context, task)).toMatchObject({ state: 'settled', txHash })
  expect(context.raised).toEqual([])
})

test("a take is not given up because of another wallet's cancellation in the endpoint's answer", async () => {
  const context = await fixture.begin()
  const { task, txHash } = await usedTake((await newWallet(fixture)).key)
  const other = await newWallet(fixture)
  const cancelled = await cancelData(other.key, newNonce(), contracts.domain)
  const hash = await fixture.submit(actorKeys.budi, contracts.ausd, cancelled)
  const receipt = await fixture.node.reader.request({
    method: 'eth_getTransactionReceipt',
    params: [hash],
  })
  let isTold = false
  fixture.endpoint.intercept = (method, _, params) => {
    if (!soughtIn(method, params)) return undefined
    isTold = true
    const [{ fromBlock: blockNumber }] = params as [{ fromBlock: Hex }]
    const result = receipt!.logs.map((log) => ({ ...log, blockNumber }))
    return Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, result }))
  }
  await fixture.command(task)
  const stateOf = async () => (await fixture.operationOf(task)).state
  await until(async () => {
    await relayOnce(context)
    await searchOnce(context, new Map())
    return (isTold && context.memory.lookUps.size === 0) || (await stateOf()) !== 'waiting'
  }, 'the answer')
  expect(await stateOf()).toBe('waiting')
  fixture.endpoint.intercept = undefined
  await isDue(task)
  expect(await fixture.finish(context, task)).toMatchObject({ state: 'settled', txHash })
})

test('security: a wallet with many long look-ups does not delay others', async () => {
  const context = await fixture.begin()
  const [many, one] = [await newWallet(fixture), await newWallet(fixture)]
  const long = []
  for (let made = 0; made < 6; made++) long.push((await usedTake(many.key)).task)
  for (let hundreds = 0; hundreds < 4; hundreds++) await chain.mine({ blocks: 100, interval: 0 })
  // Each search has to read all of these blocks.
  let isServed = false
  let servedBefore = 0
  const waits = () => [...context.memory.lookUps.values()].some(({ terms }) => terms.from === wallet)
  const wallet = one.address.toLowerCase()
  fixture.endpoint.intercept = (method, _, params) => {
    const sought = soughtIn(method, params)
    if (sought === wallet) isServed = true
    if (sought !== many.address.toLowerCase()) return undefined
    if (waits() && !isServed) servedBefore++
    return Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, result: [] }))
  }
  for (const task of long) await fixture.command(task)
  await until(async () => {
    await relayOnce(context)
    return context.memory.lookUps.size === long.length
  }, 'the look-ups')
  const { task, txHash } = await usedTake(one.key)
  await fixture.command(task)
  expect(await fixture.finish(context, task)).toMatchObject({ state: 'settled', txHash })
  expect(servedBefore).toBeLessThanOrEqual(2)
})

test.each([
  ['the time of the order', undefined, '0', 9_400n],
  ['the acceptance of the cash-out, if that was earlier', '4000', '0', 3_400n],
  ['the time of the order, not a claimed later acceptance', '20000', '0', 9_400n],
  ['the start of its window, if that is later', undefined, '9700', 9_700n],
] as const)('the search for a use starts at %s', (_, receivedAt, validAfter, since) => {
  const payload = { payoutId: 'p', receivedAt } as never
  expect(usableSince({ payload, createdAt: new Date(10_000_000) }, validAfter)).toBe(since)
})
