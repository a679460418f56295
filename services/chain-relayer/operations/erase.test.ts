import { afterAll, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { BaseError, type Hex } from 'viem'
import { answerErasure } from '#platform/bus/erasing'
import { erasedNote } from '#platform/db/erasure'
import { personErasures } from '#shared/messages/person'
import type { Context } from '../context'
import { answersOf } from '../questions/answers'
import { newNonce, newRefId, openFixture, take, until } from '../test-support'
import { givebacksOf } from '../unsolicited-deposits/test-support'
import { erasure } from './erase'
import { orderOf, type Task } from './operation'
import { insertOperation } from './operation.store'
import { lockWallet } from './wallet.store'

const fixture = await openFixture(2)
afterAll(fixture.close)
const { database } = fixture
const { sentBySomebody, sentByItself, ask, requestOf, decided, finished } = givebacksOf(fixture)

const asked = { command: crypto.randomUUID(), by: 'budi', reason: 'request', check: false }
const question = personErasures['chain-relayer']
const erase = (wallet: string) =>
  answerErasure(fixture.context, question, erasure).answer({ ...asked, wallet: lower(wallet) })
const lower = (wallet: string) => wallet.toLowerCase() as Hex
const credit = (): Task => {
  const wallet = lower(`0x${newNonce().slice(2, 42)}`)
  return { kind: 'credit', payload: { refId: newRefId(), wallet, ausd: '1000000', held: false } }
}

describe('the lock of a wallet', () => {
  /** Runs `then` while another transaction holds the wallet's lock, having done `work`. */
  async function besides(task: Task, work: 'order' | 'nothing', then: () => Promise<unknown>) {
    const order = orderOf(task)
    const [locked, seen] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const holding = database.transaction(async (tx) => {
      lockWallet(tx, order.wallet)
      await (work === 'order' ? insertOperation(tx, order) : tx.execute(sql`select`))
      locked.resolve()
      await seen.promise
    })
    await locked.promise
    const done = then()
    const waits = sql`select 1 from pg_locks where locktype = 'advisory' and not granted`
    await until(
      async () => (await database.read((db) => db.execute(waits))).length > 0,
      'waiting for the wallet',
      6_000,
    ).finally(seen.resolve)
    return (await Promise.all([done, holding]))[0]
  }

  // guard: an erasure waits for an order of its wallet that is being stored
  test('an erasure waits for an order that is being stored, and is then refused', async () => {
    const task = credit()
    const answer = await besides(task, 'order', () => erase(orderOf(task).wallet))
    expect(answer).toMatchObject({ ok: { refused: expect.stringContaining('is not final') } })
  })

  test('an order of any kind waits while its wallet is erased', async () => {
    const task = credit()
    await besides(task, 'nothing', () => fixture.command(task))
    expect(await fixture.operationOf(task)).toMatchObject({ state: 'waiting' })
  })
})

describe('the relayer refuses to erase a wallet', () => {
  const answerOf = async (context: Context, wallet: Hex) => {
    const answers = answersOf(context)
    const erasing = answers.find(({ question: { subject } }) => subject === question.subject)!
    return await erasing.answer({ ...asked, check: true, wallet })
  }

  // guard: a wallet with a claim is not erased
  test('while it owes, by the chain itself', async () => {
    const context = await fixture.begin()
    const wallet = lower(`0x${newNonce().slice(2, 42)}`)
    expect(await answerOf(context, wallet)).toEqual({ ok: { done: 'nothing prevents it' } })
    const account = async () => ({ ...(await context.account(wallet)), drawn: '5' })
    const refused = 'the wallet owes 5 micro-AUSD'
    expect(await answerOf({ ...context, account }, wallet)).toEqual({ ok: { refused } })
  })

  test('while the chain cannot be read', async () => {
    const context = await fixture.begin()
    const account = () => Promise.reject(new BaseError('no endpoint answers'))
    const refused = 'the credit line cannot be read: try again later'
    expect(await answerOf({ ...context, account }, lower(`0x${newNonce().slice(2, 42)}`))).toEqual({ ok: { refused } })
  })
})

describe('an erasure empties the note of a request to give AUSD back', () => {
  test('that was ordered', async () => {
    const context = await fixture.begin()
    const { address, name } = await sentByItself()
    await ask(name)
    await decided(context, name)
    await finished(context, name)
    expect((await requestOf(name)).reason).toBe('ticket 12')
    await erase(address)
    expect((await requestOf(name)).reason).toBe(erasedNote)
  })

  test('that was refused', async () => {
    const context = await fixture.begin()
    const { address, signed, name } = await sentBySomebody()
    const task = take(signed)
    await fixture.command(task)
    await ask(name)
    expect(await decided(context, name)).toMatchObject({ state: 'refused', reason: 'ticket 12' })
    await fixture.finish(context, task)
    await erase(address)
    expect((await requestOf(name)).reason).toBe(erasedNote)
  })
})

test('a refused request of an unknown transfer keeps no note, because no erasure could find it', async () => {
  const context = await fixture.begin()
  const name = { txHash: newNonce(), logIndex: 0 }
  await ask(name)
  expect(await decided(context, name)).toMatchObject({ state: 'refused', reason: erasedNote })
})
