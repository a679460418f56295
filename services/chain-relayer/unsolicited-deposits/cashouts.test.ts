import { afterAll, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import type { Hex } from 'viem'
import { type Order, orderOf } from '../operations/operation'
import { insertOperation } from '../operations/operation.store'
import { lockWallet } from '../operations/wallet.store'
import { asRead, openFixture, take, until } from '../test-support'
import { givebacksOf } from './test-support'

const fixture = await openFixture(2)
afterAll(fixture.close)
const { database } = fixture
const { sentBySomebody, ask, requestOf, decided, finished } = givebacksOf(fixture)

describe('security: AUSD is never both given back and used by a cash-out', () => {
  // guard: AUSD taken by a cash-out is not also returned
  test('when the cash-out took it or its order is in progress', async () => {
    const context = await fixture.begin()
    const { signed, name } = await sentBySomebody()
    const task = take(signed)
    await fixture.command(task)
    await ask(name)
    const { payoutId } = task.payload
    expect(await decided(context, name)).toMatchObject({
      refusal: `it may still be taken for cash-out ${payoutId}`,
    })
    expect((await fixture.finish(context, task)).state).toBe('settled')
    await ask(name)
    expect(await decided(context, name)).toMatchObject({
      refusal: `it was taken for cash-out ${payoutId}`,
    })
  })

  // guard: AUSD returned to its sender does not also pay a cash-out
  test('when the cash-out comes later: it fails without a payout to the bank', async () => {
    const context = await fixture.begin()
    const { address, signed, name } = await sentBySomebody()
    await ask(name)
    await decided(context, name)
    const task = take(signed)
    await fixture.command(task)
    await fixture.command(task)
    expect(await fixture.operationOf(task)).toMatchObject({ state: 'failed', reason: 'given_back' })
    await finished(context, name)
    await fixture.command(task)
    expect((await fixture.operationOf(task)).state).toBe('failed')
    expect(await fixture.balanceOf(address)).toBe(10_000_000n)
  })

  /** Runs `work` while another process is about to store an order of the same wallet. */
  async function besides(order: Order, work: () => Promise<unknown>) {
    const [stored, seen] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const storing = database.transaction(async (tx) => {
      lockWallet(tx, order.wallet)
      await insertOperation(tx, order)
      stored.resolve()
      await seen.promise
    })
    await stored.promise
    const done = work()
    done.catch(() => {}) // Without the lock this promise rejects before anything awaits it.
    const waits = sql`select 1 from pg_locks where locktype = 'advisory' and not granted`
    await until(
      async () => (await database.read((db) => db.execute(waits))).length > 0,
      'waiting for the wallet',
      6_000, // The transaction that holds the lock ends after 8 s.
    ).finally(seen.resolve)
    await Promise.all([storing, done])
  }

  // guard: a giveback waits for a take of its wallet that is being stored
  test('when the cash-out is ordered concurrently', async () => {
    const context = await fixture.begin()
    const { address, signed, name } = await sentBySomebody()
    const task = take(signed)
    await ask(name)
    await besides(orderOf(asRead(task)), () => decided(context, name))
    expect((await requestOf(name)).refusal).toStartWith('it may still be taken')
    expect((await fixture.finish(context, task)).state).toBe('settled')
    expect(await fixture.balanceOf(address)).toBe(6_000_000n)
  })

  // guard: a take waits for a giveback of its wallet that is being stored
  test('when the cash-out comes while the giveback is stored: it fails', async () => {
    const { address, signed, name } = await sentBySomebody()
    const wallet = address.toLowerCase() as Hex
    const nonce = signed.nonce.toLowerCase() as Hex
    const payload = { ...name, wallet, ausd: '4000000', nonce }
    const task = take(signed)
    await besides(orderOf({ kind: 'giveback', payload }), () => fixture.command(task))
    expect(await fixture.operationOf(task)).toMatchObject({ state: 'failed', reason: 'given_back' })
    await finished(await fixture.begin(), name)
    expect(await fixture.balanceOf(address)).toBe(10_000_000n)
  })
})
