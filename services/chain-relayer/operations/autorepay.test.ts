import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { eq, type SQL, sql } from 'drizzle-orm'
import { encodeFunctionData, type Hex, maxUint256, toFunctionSelector } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { transactions } from '../lanes/lane.store'
import { relayOnce } from '../relay-loop'
import { outbox } from '../schema.store'
import { listening, newRefId, newWallet, openFixture, until, verify } from '../test-support'
import { orderOf, type Task } from './operation'
import { operations } from './operation.table'

const fixture = await openFixture()
afterAll(fixture.close)
afterEach(() => {
  fixture.endpoint.intercept = undefined
})
const { chain, contracts } = fixture

/** AUSD (10⁻⁶) that a borrower draws; the wallet has none besides. */
const drawnMicro = 400_000n

const line = (key: Hex, functionName: 'draw' | 'repay' | 'setAutoRepay', args: readonly unknown[]) =>
  fixture.submit(key, contracts.creditLine, encodeFunctionData({ abi: creditLineAbi, functionName, args } as never))
const approve = (key: Hex, micro: bigint) =>
  fixture.submit(
    key,
    contracts.ausd,
    encodeFunctionData({ abi: ausdAbi, functionName: 'approve', args: [contracts.creditLine, micro] }),
  )

/** Returns a wallet that has borrowed against a top-up. */
async function borrower() {
  const context = await fixture.begin()
  const { key, address } = await newWallet(fixture, 0n)
  const wallet = address.toLowerCase() as Hex
  const credit: Task = { kind: 'credit', payload: { refId: newRefId(), wallet, ausd: '1000000', held: false } }
  for (const task of [verify(wallet, true, 1n), credit]) {
    await fixture.command(task)
    expect((await fixture.finish(context, task)).state).toBe('settled')
  }
  await line(key, 'draw', [drawnMicro, address])
  return { key, wallet }
}

/** Moves the chain into the second half of the term, from which the contract repays automatically. */
async function comeNear() {
  await chain.increaseTime({ seconds: 400 })
  await chain.mine({ blocks: 3 })
}

const autorepay = (wallet: Hex, attempt = 0, cycle = 1): Task & { kind: 'autorepay' } => ({
  kind: 'autorepay',
  payload: { wallet, cycle, attempt },
})

/** Returns what the relayer announced that a try has repaid. */
async function announcedOf(wallet: Hex, attempt = 0): Promise<unknown> {
  const cause = sql`${outbox.payload} ->> 'cause'`
  const rows = await fixture.database.read((db) =>
    db
      .select()
      .from(outbox)
      .where(sql`${cause} = ${`${wallet}:1:${attempt}`} and ${outbox.subject} = 'relay.autorepay.settled'`),
  )
  return rows.map(({ payload }) => (payload as { repaid?: unknown }).repaid)
}

async function tried(wallet: Hex, attempt = 0, cycle = 1) {
  const context = listening(await fixture.begin())
  const task = autorepay(wallet, attempt, cycle)
  await fixture.command(task)
  const { state, reason } = await fixture.finish(context, task)
  expect(context.raised).toEqual([])
  return { state, reason }
}
const selector = toFunctionSelector('autoRepay(address)')
/** Lets the endpoint answer the simulation of every automatic repayment. */
function answerCalls(answer: object) {
  fixture.endpoint.intercept = (method, _, [call]) =>
    method === 'eth_call' && (call as { data?: string }).data?.startsWith(selector)
      ? Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, ...answer }))
      : undefined
}
const failedAs = (reason: string) => ({ state: 'failed' as const, reason })
const settled = { state: 'settled' as const, reason: null }

describe('an automatic repayment', () => {
  test('repays the debt from the AUSD of the wallet, once', async () => {
    const { key, wallet } = await borrower()
    await approve(key, maxUint256)
    await line(key, 'setAutoRepay', [1_000_000n, false])
    await comeNear()
    expect(await tried(wallet)).toEqual(settled)
    expect(await fixture.lineOf(wallet)).toMatchObject({ drawn: 0n, collateral: 1_000_000n })
    expect(await fixture.balanceOf(wallet)).toBe(0n)
    expect(await announcedOf(wallet)).toEqual([{ ausd: '400000', source: 'wallet' }])
    expect(await tried(wallet, 1)).toEqual(failedAs('nothing_due'))
  })

  test('repays it from the collateral', async () => {
    const { key, wallet } = await borrower()
    await line(key, 'setAutoRepay', [1_000_000n, true])
    await comeNear()
    expect(await tried(wallet)).toEqual(settled)
    expect(await fixture.lineOf(wallet)).toMatchObject({ drawn: 0n, collateral: 600_000n })
    expect(await fixture.balanceOf(wallet)).toBe(drawnMicro)
  })

  test('fails without an alert while the wallet has not allowed it, or has too little, and succeeds at a later try', async () => {
    const { key, wallet } = await borrower()
    await comeNear()
    expect(await tried(wallet, 0)).toEqual(failedAs('nothing_due'))
    await line(key, 'setAutoRepay', [1_000_000n, false])
    expect(await tried(wallet, 1)).toEqual(failedAs('allowance_too_low'))
    await approve(key, maxUint256)
    const sent = encodeFunctionData({ abi: ausdAbi, functionName: 'transfer', args: [fixture.treasury.address, 1n] })
    await fixture.submit(key, contracts.ausd, sent)
    expect(await tried(wallet, 2)).toEqual(failedAs('balance_too_low'))
    await fixture.mint(wallet, 1n)
    expect(await tried(wallet, 3)).toEqual(settled)
    expect((await fixture.lineOf(wallet)).drawn).toBe(0n)
  })

  test('that comes too early ends, and takes nothing', async () => {
    const { key, wallet } = await borrower()
    await line(key, 'setAutoRepay', [1_000_000n, true])
    expect(await tried(wallet)).toEqual(failedAs('nothing_due'))
    expect((await fixture.lineOf(wallet)).drawn).toBe(drawnMicro)
  })

  // guard: a debt is not repaid automatically while a payment of it is on its way
  test('waits for a payment of the same debt, and takes nothing once that has repaid it', async () => {
    const { key, wallet } = await borrower()
    await line(key, 'setAutoRepay', [1_000_000n, true])
    await comeNear()
    const context = await fixture.begin()
    const payload = { refId: newRefId(), wallet, ausd: String(drawnMicro), held: false, paidAt: '1' }
    const paid: Task = { kind: 'repay', payload }
    await fixture.command(paid)
    const rests = (notBefore: SQL) =>
      fixture.database.run((db) => db.update(operations).set({ notBefore }).where(eq(operations.cause, payload.refId)))
    await rests(sql`now() + interval '4 minutes'`)
    await fixture.command(autorepay(wallet))
    const later = verify((await newWallet(fixture, 0n)).address.toLowerCase() as Hex, true, 1n)
    await fixture.command(later)
    await fixture.finish(context, later)
    expect((await fixture.operationOf(autorepay(wallet))).state).toBe('waiting')

    await rests(sql`now()`)
    expect((await fixture.finish(context, paid)).state).toBe('settled')
    expect(await fixture.finish(context, autorepay(wallet))).toMatchObject(failedAs('nothing_due'))
    expect(await fixture.lineOf(wallet)).toMatchObject({ drawn: 0n, collateral: 1_000_000n })
  })

  test('waits for an earlier one of the same debt, and pays no gas for nothing', async () => {
    const { key, wallet } = await borrower()
    await line(key, 'setAutoRepay', [1_000_000n, true])
    await comeNear()
    const context = await fixture.begin()
    for (const attempt of [0, 1]) await fixture.command(autorepay(wallet, attempt))
    expect((await fixture.finish(context, autorepay(wallet))).state).toBe('settled')
    const second = await fixture.finish(context, autorepay(wallet, 1))
    expect(second).toMatchObject({ ...failedAs('nothing_due'), lane: null })
  })

  test('is not refused by a state of the chain that is older than its order', async () => {
    const { key, wallet } = await borrower()
    await comeNear()
    const context = await fixture.begin()
    await fixture.command(autorepay(wallet))
    const { timestamp } = await chain.getBlock()
    const set = (fields: object) =>
      fixture.database.run((db) =>
        db
          .update(operations)
          .set(fields)
          .where(eq(operations.cause, `${wallet}:1:0`)),
      )
    await set({ createdAt: sql`to_timestamp(${Number(timestamp) + 60})` })
    const rested = async () => (await fixture.operationOf(autorepay(wallet))).notBefore
    const ordered = await rested()
    await until(async () => {
      await relayOnce(context)
      return (await rested()) > ordered
    }, 'the first examination')
    expect((await fixture.operationOf(autorepay(wallet))).state).toBe('waiting')
    await line(key, 'setAutoRepay', [1_000_000n, true])
    await set({ notBefore: sql`now()` })
    expect(await fixture.finish(context, autorepay(wallet))).toMatchObject(settled)
  })

  // guard: a try to repay a cycle takes nothing for a later one
  test('of an earlier cycle takes nothing from a later one', async () => {
    const { key, wallet } = await borrower()
    await approve(key, maxUint256)
    await line(key, 'repay', [drawnMicro])
    await line(key, 'draw', [drawnMicro, wallet])
    await line(key, 'setAutoRepay', [1_000_000n, true])
    await comeNear()
    expect(await tried(wallet, 5)).toEqual(failedAs('nothing_due'))
    expect((await fixture.lineOf(wallet)).drawn).toBe(drawnMicro)
    expect(await tried(wallet, 0, 2)).toEqual(settled)
  })

  test('that reverts although it was examined is sent once more, and then fails until the next try', async () => {
    const { key, wallet } = await borrower()
    await line(key, 'setAutoRepay', [1_000_000n, false])
    await comeNear()
    answerCalls({ result: '0x' })
    expect(await tried(wallet)).toEqual(failedAs('reverted'))
    const sent = await fixture.database.read((db) =>
      db
        .select()
        .from(transactions)
        .where(sql`${transactions.operationIds} ? ${orderOf(autorepay(wallet)).id}`),
    )
    expect(sent).toHaveLength(2)
    fixture.endpoint.intercept = undefined
    expect(await tried(wallet, 1)).toEqual(failedAs('allowance_too_low'))
  })

  test('that reverts without a reason, such as by too little gas, raises an alert', async () => {
    const { key, wallet } = await borrower()
    await line(key, 'setAutoRepay', [1_000_000n, true])
    await comeNear()
    answerCalls({ error: { code: 3, message: 'execution reverted', data: '0x' } })
    const context = listening(await fixture.begin())
    await fixture.command(autorepay(wallet))
    expect(await fixture.finish(context, autorepay(wallet))).toMatchObject(failedAs('reverted'))
    expect(context.raised).toMatchObject([{ msg: 'operation failed', kind: 'autorepay', reason: 'reverted' }])
  })

  test('of at most a bound leaves the rest of the debt, and its permission is shown', async () => {
    const { key, wallet } = await borrower()
    await line(key, 'setAutoRepay', [150_000n, true])
    await comeNear()
    expect(await tried(wallet)).toEqual(settled)
    expect((await fixture.lineOf(wallet)).drawn).toBe(drawnMicro - 150_000n)
    expect(await announcedOf(wallet)).toEqual([{ ausd: '150000', source: 'collateral' }])
    expect(await tried(wallet, 1)).toEqual(failedAs('nothing_due'))
    const account = await (await fixture.begin()).account(wallet)
    expect(account.autoRepay).toEqual({
      maxPerCycle: '150000',
      source: 'collateral',
      taken: '150000',
      startsAt: expect.stringMatching(/^[0-9]{10}$/),
    })
    await line(key, 'setAutoRepay', [0n, false])
    expect((await (await fixture.begin()).account(wallet)).autoRepay).toBeNull()
  })
})
