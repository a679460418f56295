import { afterAll, afterEach, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { type Hex, keccak256 } from 'viem'
import { actors } from '#test/support/contracts'
import { attempts } from '../lanes/lane.store'
import type { Task } from '../operations/operation'
import { newRefId, openFixture } from '../test-support'

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
