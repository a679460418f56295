import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { actors } from '#infra/contracts/stage'
import { refOf } from '#shared/chain/ref'
import { releaseLanes } from './lane.store'
import { holdLanes } from './lanes'
import type { Task } from './operation'
import { openStage, until } from './rig/stage'
import { newRefId } from './rig/wallets'
import { round } from './rounds'

const stage = await openStage(2)
afterAll(stage.close)
afterEach(() => {
  stage.liar.interfere = undefined
})

const credit = (): Task => ({
  kind: 'credit',
  payload: {
    refId: newRefId(),
    wallet: actors.ana.address,
    ausd: '1000000',
    held: false,
  },
})
const order = async (count: number) => {
  const tasks = Array.from({ length: count }, credit)
  for (const task of tasks) await stage.command(task)
  return tasks
}

describe('two lanes', () => {
  test('share the work', async () => {
    const relayer = await stage.begin({ batchMax: 1 })
    const tasks = await order(6)
    const ended = []
    for (const task of tasks) ended.push(await stage.finish(relayer, task))
    expect(ended.map(({ state }) => state)).toEqual(Array(6).fill('settled'))
    expect(new Set(ended.map(({ lane }) => lane)).size).toBe(2)
    expect(new Set(ended.map(({ lane, nonce }) => `${lane}:${nonce}`)).size).toBe(6)
  })

  test('of which one is stuck do not stop each other', async () => {
    const relayer = await stage.begin({ batchMax: 1, bumpAfterMs: 60_000 })
    const stuck = stage.keys[1]!.address.toLowerCase()
    const tasks = await order(4)
    // The endpoint says yes to everything, and then forgets what one lane sent.
    const yes = async () => Response.json({ jsonrpc: '2.0', id: 1, result: refOf('yes') })
    stage.liar.interfere = (method) => (method === 'eth_sendRawTransaction' ? yes() : undefined)
    await round(relayer)
    const held = await holdLanes(relayer)
    const open = held.find(({ lane }) => lane.address === stuck)!.open
    const forgotten = new Set<unknown>(open.map(({ attempts }) => attempts[0]!.raw))
    expect(forgotten.size).toBeGreaterThan(0)
    stage.liar.interfere = (_method, _forward, [raw]) => (forgotten.has(raw) ? yes() : undefined)
    await until(async () => {
      await round(relayer)
      const states = await Promise.all(tasks.map((task) => stage.operationOf(task)))
      return states.filter(({ state }) => state === 'settled').length === 4 - forgotten.size
    }, 'the end of the other lane')
    stage.liar.interfere = undefined
    for (const task of tasks) expect((await stage.finish(relayer, task)).state).toBe('settled')
  })
})

describe('two processes', () => {
  test('never hold the same lane, and the second takes over what the first lets go', async () => {
    const first = await stage.begin()
    expect(await holdLanes(first)).toHaveLength(2)
    const second = { ...first, holder: crypto.randomUUID() }
    expect(await holdLanes(second)).toEqual([])
    await releaseLanes(stage.database, first.holder)
    const taken = await holdLanes(second)
    expect(taken.map(({ sound }) => sound)).toEqual([true, true])
    expect(await holdLanes(first)).toEqual([])
  })

  test('working at once credit each order once', async () => {
    const first = await stage.begin({ batchMax: 3 })
    const second = { ...first, holder: crypto.randomUUID() }
    const before = await stage.balanceOf(stage.treasury.address)
    const tasks = await order(8)
    await until(async () => {
      await Promise.all([round(first), round(second)])
      const states = await Promise.all(tasks.map((task) => stage.operationOf(task)))
      return states.every(({ state }) => state === 'settled')
    }, 'all credits')
    expect(before - (await stage.balanceOf(stage.treasury.address))).toBe(8_000_000n)
  })
})
