import { afterAll, afterEach, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { type Hex, keccak256 } from 'viem'
import { pause } from '#platform/deadline'
import { actors } from '#test/support/contracts'
import { holdLanes } from '../lanes/held-lanes'
import { attempts } from '../lanes/lane.store'
import type { Task } from '../operations/operation'
import { relayOnce } from '../relay-loop'
import { newRefId, openFixture, until } from '../test-support'
import { broadcastDue } from './broadcast'

const fixture = await openFixture()
afterAll(fixture.close)
afterEach(() => {
  fixture.endpoint.intercept = undefined
})

const wallet = actors.ana.address.toLowerCase() as `0x${string}`
const credit = (): Task => ({ kind: 'credit', payload: { refId: newRefId(), wallet, ausd: '1000000', held: false } })

// guard: a transaction is stored before it is sent
test('a transaction is sent only after its bytes are stored', async () => {
  const context = await fixture.begin()
  const task = credit()
  const storedWhenSent: boolean[] = []
  const isStored = async (raw: Hex) => {
    const its = eq(attempts.hash, keccak256(raw))
    return (await fixture.database.read((db) => db.select().from(attempts).where(its))).length > 0
  }
  fixture.endpoint.intercept = (method, forward, [raw]) => {
    if (method !== 'eth_sendRawTransaction') return undefined
    return isStored(raw as Hex).then((stored) => {
      storedWhenSent.push(stored)
      return forward()
    })
  }
  await fixture.command(task)
  await fixture.finish(context, task)
  expect(storedWhenSent.length).toBeGreaterThan(0)
  expect(storedWhenSent).not.toContain(false)
})

test('a transaction ends although a node answers with text that Postgres does not store', async () => {
  const context = await fixture.begin()
  const task = credit()
  fixture.endpoint.intercept = (method, forward) => {
    if (method !== 'eth_sendRawTransaction') return undefined
    const error = { code: -32_000, message: 'internal error \0' }
    return forward().then(() => Response.json({ jsonrpc: '2.0', id: 1, error }))
  }
  await fixture.command(task)
  expect((await fixture.finish(context, task)).state).toBe('settled')
  const kept = await fixture.database.read((db) => db.select({ said: attempts.lastError }).from(attempts))
  expect(kept).toContainEqual({ said: 'internal error \ufffd' })
})

test('a transaction that gets a higher fee twice in one round continues from the last', async () => {
  const context = await fixture.begin({ bumpAfterMs: 60_000 })
  const task = credit()
  fixture.endpoint.intercept = (method) => {
    if (method !== 'eth_sendRawTransaction') return undefined
    const error = { code: -32_000, message: 'transaction underpriced' }
    return Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, error }))
  }
  await fixture.command(task)
  await until(async () => {
    await relayOnce(context)
    return (await fixture.operationOf(task)).state === 'assigned'
  }, 'a nonce')
  const held = await holdLanes(context)
  const [open] = held[0]!.open
  for (let times = 0; times < 2; times++) {
    await pause(1_100)
    await broadcastDue(context, held)
  }
  const its = eq(attempts.nonce, open!.nonce)
  const stored = await fixture.database.read((db) => db.select({ attempt: attempts.attempt }).from(attempts).where(its))
  expect(stored.map(({ attempt }) => attempt).sort()).toEqual([1, 2, 3])
  fixture.endpoint.intercept = undefined
  expect((await fixture.finish(context, task)).state).toBe('settled')
})
