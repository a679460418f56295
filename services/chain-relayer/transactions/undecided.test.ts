import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import { encodeAbiParameters, type Hex, keccak256, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { toUnixSeconds } from '#platform/clock'
import { waitUntil } from '#test/support/wait'
import type { Context } from '../context'
import { orderOf, type Task, transferEndsMs } from '../operations/operation'
import { operations } from '../operations/operation.table'
import { relayOnce } from '../relay-loop'
import { outbox } from '../schema.store'
import { newNonce, newRefId, newWallet, openFixture, take } from '../test-support'

const fixture = await openFixture()
afterAll(fixture.close)
afterEach(async () => {
  fixture.endpoint.intercept = undefined
  await database.run((db) => db.update(operations).set({ state: 'failed' }).where(eq(operations.state, 'waiting')))
})
const { database } = fixture
const treasury = fixture.treasury.address
const transferSelector = '0xcf092995'

/** Returns a take whose signature is no key's, so only code of the wallet can accept it. */
function foreignTake(from: Hex = privateKeyToAddress(generatePrivateKey())) {
  const validBefore = String(toUnixSeconds(Date.now()) + 86_400)
  const signature = encodeAbiParameters([{ type: 'bytes32' }, { type: 'bytes' }], [keccak256(toHex('w')), '0x12'])
  return take({ from, to: treasury, value: '1000000', validAfter: '0', validBefore, nonce: newNonce(), signature })
}

/** Makes the wallets' code refuse at the newest block and accept at the finalized one. */
function answersDifferently() {
  const asked: string[] = []
  fixture.endpoint.intercept = (method, _, [call, block]) => {
    const { data = '' } = (call ?? {}) as { data?: string }
    if (method !== 'eth_call' || !data.startsWith(transferSelector)) return undefined
    asked.push(String(block))
    const outcome =
      block === 'latest' ? { error: { code: 3, message: 'execution reverted', data: '0x' } } : { result: '0x' }
    return Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, ...outcome }))
  }
  return asked
}

const rounds = async (context: Context, count: number) => {
  for (let round = 0; round < count; round++) await relayOnce(context)
}
const isOld = (task: Task, ageMs: number) =>
  database.run((db) =>
    db
      .update(operations)
      .set({ createdAt: sql`now() - ${ageMs} * interval '1 ms'`, notBefore: sql`now()` })
      .where(eq(operations.id, orderOf(task).id)),
  )
const isDue = (tasks: readonly Task[]) => Promise.all(tasks.map((task) => isOld(task, 30_000)))

describe('security: a transfer that its wallet neither accepts nor refuses', () => {
  test('ends five minutes after its order, and is reported as failed', async () => {
    answersDifferently()
    const context = await fixture.begin()
    const task = foreignTake()
    await fixture.command(task)
    await rounds(context, 2)
    expect((await fixture.operationOf(task)).state).toBe('waiting')
    await isOld(task, transferEndsMs)
    await rounds(await fixture.begin(), 1)
    expect(await fixture.operationOf(task)).toMatchObject({ state: 'failed', reason: 'undecided' })
    const messages = await database.read((db) => db.select().from(outbox))
    const { payoutId } = task.payload
    expect(messages.filter(({ payload }) => (payload as { cause?: string }).cause === payoutId)).toMatchObject([
      { subject: 'relay.take.failed', payload: { reason: 'undecided' } },
    ])
  })

  test('ends so while the chain cannot be read', async () => {
    const context = await fixture.begin()
    const task = foreignTake()
    await fixture.command(task)
    await isOld(task, transferEndsMs)
    fixture.endpoint.intercept = () => Promise.resolve(new Response('', { status: 500 }))
    await rounds(context, 1)
    expect((await fixture.operationOf(task)).state).toBe('failed')
  })

  test('is examined more and more rarely', async () => {
    const asked = answersDifferently()
    const context = await fixture.begin()
    const task = foreignTake()
    await fixture.command(task)
    await isOld(task, 60_000)
    await rounds(context, 5)
    expect(asked).toHaveLength(2)
    const { notBefore } = await fixture.operationOf(task)
    expect(notBefore.getTime() - Date.now()).toBeGreaterThan(20_000)
  })

  test('takes at most two places of a round, however many wait', async () => {
    const asked = answersDifferently()
    const context = await fixture.begin()
    const tasks = Array.from({ length: 12 }, () => foreignTake())
    for (const task of tasks) await fixture.command(task)
    await isDue(tasks)
    await rounds(context, 1)
    expect(asked.length).toBeLessThanOrEqual(4)
    const before = asked.length
    await rounds(context, 1)
    expect(asked.length).toBeGreaterThan(before)
  })

  test('delays no revocation: the revocation is signed before the transfer is examined', async () => {
    const released = Promise.withResolvers<void>()
    let isAsked = false
    const context = await fixture.begin()
    const { address: wallet } = await newWallet(fixture, 0n)
    const refId = newRefId()
    const credit: Task = { kind: 'credit', payload: { refId, wallet, ausd: '1000000', held: true } }
    await fixture.command(credit)
    await fixture.finish(context, credit)
    fixture.endpoint.intercept = (method, forward, [call]) => {
      const { data = '' } = (call ?? {}) as { data?: string }
      if (method !== 'eth_call' || !data.startsWith(transferSelector)) return undefined
      isAsked = true
      return released.promise.then(forward)
    }
    const foreign = foreignTake()
    await fixture.command(foreign)
    await isDue([foreign])
    const revoke: Task = { kind: 'revoke', payload: { refId, wallet, of: 'topup' } }
    await fixture.command(revoke)
    const round = relayOnce(context)
    await waitUntil('the transfer being examined', () => isAsked)
    expect((await fixture.operationOf(revoke)).state).toBe('assigned')
    released.resolve()
    await round
  })
})
