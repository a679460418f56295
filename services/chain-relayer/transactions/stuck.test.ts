import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { and, desc, eq, sql } from 'drizzle-orm'
import { type Hex, keccak256, parseTransaction } from 'viem'
import { gasLimits } from '#shared/chain/gas'
import { actors } from '#test/support/contracts'
import type { Context } from '../context'
import { holdLanes } from '../lanes/held-lanes'
import { attempts } from '../lanes/lane.store'
import { orderOf, type Task } from '../operations/operation'
import { operations } from '../operations/operation.table'
import { relayOnce } from '../relay-loop'
import { newNonce, newRefId, newWallet, openFixture, take, until } from '../test-support'
import { feesFor } from './transaction'

const fixture = await openFixture()
afterAll(fixture.close)
afterEach(() => {
  fixture.endpoint.intercept = undefined
})

const wallet = actors.ana.address.toLowerCase() as `0x${string}`
const credit = (): Task => ({
  kind: 'credit',
  payload: { refId: newRefId(), wallet, ausd: '1000', held: false },
})
const stateOf = async (task: Task) =>
  (
    await fixture.database.read((db) =>
      db
        .select()
        .from(operations)
        .where(eq(operations.cause, causeOf(task))),
    )
  )[0]!.state
const causeOf = (task: Task) => orderOf(task).cause

/** Makes the endpoint accept transactions and drop them. */
function swallow(): Hex[] {
  const sent: Hex[] = []
  fixture.endpoint.intercept = (method, _, [raw]) => {
    if (method !== 'eth_sendRawTransaction') return undefined
    sent.push(raw as Hex)
    return Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, result: keccak256(raw as Hex) }))
  }
  return sent
}

test('a lane whose oldest transaction is not mined gets no other until it is mined', async () => {
  const context = await fixture.begin({ bumpAfterMs: 60_000 })
  swallow()
  const [first, second] = [credit(), credit()]
  await fixture.command(first)
  await until(async () => {
    await relayOnce(context)
    return (await stateOf(first)) === 'assigned'
  }, 'the first having a nonce')
  await fixture.command(second)
  await relayOnce({ ...context, clock: () => context.clock() + 120_000 })
  expect(await stateOf(second)).toBe('waiting')
  fixture.endpoint.intercept = undefined
  expect((await fixture.finish(context, first)).state).toBe('settled')
  expect((await fixture.finish(context, second)).state).toBe('settled')
})

const gwei = 10n ** 9n
/** Highest fee at the base fee of anvil. */
const capWei = 800n * gwei

/** Makes the endpoint refuse a replacement that does not raise both fees by a tenth, as geth does. */
function replaceFrom(poolWei: bigint) {
  const least = (poolWei * 11n) / 10n
  fixture.endpoint.intercept = (method, _, [raw]) => {
    if (method !== 'eth_sendRawTransaction') return undefined
    const { maxFeePerGas, maxPriorityFeePerGas } = parseTransaction(raw as Hex)
    if (maxFeePerGas! >= least && maxPriorityFeePerGas! >= least) return undefined
    const error = { code: -32000, message: 'replacement transaction underpriced' }
    return Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, error }))
  }
}

describe('after 40 attempts at a transaction', () => {
  async function stuck(task: Task, feesWei?: bigint) {
    const context = await fixture.begin()
    swallow()
    await fixture.command(task)
    await until(async () => {
      await relayOnce(context)
      return (await stateOf(task)) === 'assigned'
    }, 'a nonce')
    await fixture.database.run((db) =>
      db.execute(sql`insert into ${attempts}
        select lane, nonce, number, purpose, raw, md5(hash || number),
          coalesce(${feesWei ?? null}::numeric, max_fee_wei),
          coalesce(${feesWei ?? null}::numeric, priority_wei), gas, created_at, broadcasts, broadcast_at, last_error
        from ${attempts}, generate_series(2, 40) number
        where (lane, nonce) in (select lane, nonce from ${operations} where cause = ${causeOf(task)})`),
    )
    return context
  }
  const newestOf = async (task: Task) =>
    (
      await fixture.database.read((db) =>
        db
          .select({ attempt: attempts.attempt, purpose: attempts.purpose })
          .from(attempts)
          .innerJoin(operations, and(eq(operations.lane, attempts.lane), eq(operations.nonce, attempts.nonce)))
          .where(eq(operations.cause, causeOf(task)))
          .orderBy(desc(attempts.attempt)),
      )
    )[0]!

  test('it still gets a higher fee', async () => {
    const task = credit()
    const context = await stuck(task)
    await until(async () => {
      await relayOnce(context)
      return (await newestOf(task)).attempt > 40
    }, 'a higher fee')
    fixture.endpoint.intercept = undefined
    expect((await fixture.finish(context, task)).state).toBe('settled')
  })

  test.each([
    ['it is still replaced by a noop once its authorization has lapsed', undefined],
    ['at the highest fee, a node that requires a tenth more still takes the noop', capWei],
  ])('%s', async (_, feesWei) => {
    const { key } = await newWallet(fixture)
    const to = fixture.treasury.address
    const task = take(await fixture.sign(key, { to, value: 1n, nonce: newNonce() }))
    const context = await stuck(task, feesWei)
    const later = { ...context, clock: () => context.clock() + 7_200_000 }
    await until(async () => {
      await relayOnce(later)
      return (await newestOf(task)).purpose === 'noop'
    }, 'a noop')
    if (feesWei) replaceFrom(feesWei)
    else fixture.endpoint.intercept = undefined
    await until(async () => {
      await relayOnce(later)
      return (await stateOf(task)) !== 'assigned'
    }, 'the nonce being used')
    // On the chain the authorization is still valid.
    fixture.endpoint.intercept = undefined
    expect((await fixture.finish(context, task)).state).toBe('settled')
  })
})

test('a batch whose total fees exceed the cap of a node goes as single transactions', async () => {
  const context = await fixture.begin()
  const tasks = Array.from({ length: 4 }, credit)
  const refused: bigint[] = []
  const capOfNodeWei = 2n * gasLimits.topUp * feesFor((await fixture.node.newestHead()).baseFeeWei).maxFeeWei
  fixture.endpoint.intercept = (method, _, [raw]) => {
    if (method !== 'eth_sendRawTransaction') return undefined
    const { gas, maxFeePerGas } = parseTransaction(raw as Hex)
    if (gas! * maxFeePerGas! <= capOfNodeWei) return undefined
    refused.push(gas!)
    const error = { code: -32000, message: 'tx fee (1.63 ether) exceeds the configured cap (1.00 ether)' }
    return Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, error }))
  }
  for (const task of tasks) await fixture.command(task)
  for (const task of tasks) expect((await fixture.finish(context, task)).state).toBe('settled')
  expect(refused).not.toBeEmpty()
})

describe('after the database clock was set back by an hour', () => {
  const isSetBack = (context: Context): Context => ({
    ...context,
    clock: () => context.clock() - 3_600_000,
  })

  test.each([
    ['a transaction that is not mined still gets a higher fee', {}, (sent: readonly Hex[]) => new Set(sent).size > 1],
    ['a transaction is still resent', { bumpAfterMs: 7_200_000 }, (sent: readonly Hex[]) => sent.length > 2],
  ])('%s', async (what, settings, isSo) => {
    const context = isSetBack(await fixture.begin(settings))
    const sent = swallow()
    const task = credit()
    await fixture.command(task)
    await until(async () => {
      await relayOnce(context)
      return isSo(sent)
    }, what)
    fixture.endpoint.intercept = undefined
    expect((await fixture.finish(context, task)).state).toBe('settled')
  })
})

test('an instance that takes over a lane with many transactions in flight resends a part in each round, the oldest first', async () => {
  // With these settings nothing else becomes due, however long a round takes.
  const settings = { batchMax: 1, bumpAfterMs: 600_000, rebroadcastAfterMs: 600_000 }
  const before = await fixture.begin(settings)
  const sentBefore = swallow()
  const tasks = Array.from({ length: 80 }, credit)
  for (const task of tasks) await fixture.command(task)
  await until(async () => {
    await relayOnce(before)
    return new Set(sentBefore).size === tasks.length
  }, 'all being sent once')
  // Attempts are sorted by nonce, because concurrent sends arrive in any order.
  const open = (await holdLanes(before)).flatMap((lane) => lane.open)
  const order = open
    .toSorted((a, b) => Number(a.nonce) - Number(b.nonce))
    .flatMap(({ attempts }) => attempts.map(({ raw }) => raw))

  const next = await fixture.begin(settings)
  const sent = swallow()
  await relayOnce(next)
  const inFirst = sent.length
  expect(inFirst).toBeLessThan(tasks.length)
  await relayOnce(next)
  expect(new Set(sent)).toEqual(new Set(order))
  expect(sent.slice(0, inFirst).toSorted()).toEqual(order.slice(0, inFirst).toSorted())
})
