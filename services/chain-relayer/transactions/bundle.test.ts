import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { encodeFunctionData, type Hex } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { multicall3 } from '#shared/chain/client'
import { actorKeys } from '#test/support/contracts'
import type { Context } from '../context'
import { holdLanes } from '../lanes/held-lanes'
import { transactions } from '../lanes/lane.store'
import type { Operation } from '../operations/operation.table'
import { revertedGas } from '../operations/reverted-gas.store'
import { relayOnce } from '../relay-loop'
import { journal } from '../schema.store'
import { cancelData, newNonce, newWallet, openFixture, recipient, take, transferData } from '../test-support'
import { assignWaiting } from './assign'

const fixture = await openFixture()
afterAll(fixture.close)
afterEach(() => {
  fixture.endpoint.intercept = undefined
})
const { chain, contracts, database } = fixture
const treasury = fixture.treasury.address

type Wallet = Awaited<ReturnType<typeof newWallet>>

async function signedTake(by?: Wallet, micro = 4_000_000n) {
  const wallet = by ?? (await newWallet(fixture))
  const signed = await fixture.sign(wallet.key, { to: treasury, value: micro, nonce: newNonce() })
  return { ...wallet, signed, task: take(signed) }
}
const severalTakes = async (count: number) => {
  const takes = []
  while (takes.length < count) takes.push(await signedTake())
  return takes
}
const order = async (takes: readonly { task: ReturnType<typeof take> }[]) => {
  for (const { task } of takes) await fixture.command(task)
}
const endOf = async (context: Context, takes: readonly { task: ReturnType<typeof take> }[]) => {
  const ended: Operation[] = []
  for (const { task } of takes) ended.push(await fixture.finish(context, task))
  return ended
}
/** Assigns operations without sending them, so that the chain's next action precedes our transaction. */
const assign = async (context: Context) => assignWaiting(context, await holdLanes(context))
const rowOf = async ({ lane, nonce }: Operation) => {
  const rows = await database.read((db) => db.select().from(transactions))
  return rows.find((row) => row.lane === lane && row.nonce === nonce)!
}

describe('transfers signed by plain accounts', () => {
  test('share one transaction, and each moves its own money', async () => {
    const context = await fixture.begin()
    const before = await fixture.balanceOf(treasury)
    const takes = await severalTakes(3)
    await order(takes)
    const ended = await endOf(context, takes)
    expect(ended.map(({ state }) => state)).toEqual(['settled', 'settled', 'settled'])
    expect(new Set(ended.map(({ txHash }) => txHash)).size).toBe(1)
    expect((await rowOf(ended[0]!)).to).toBe(multicall3.toLowerCase() as Hex)
    expect((await fixture.balanceOf(treasury)) - before).toBe(12_000_000n)
  })

  test('are booked as one transaction, with one amount of gas', async () => {
    const context = await fixture.begin()
    const takes = await severalTakes(2)
    await order(takes)
    const [first] = await endOf(context, takes)
    const lines = await database.read((db) =>
      db
        .select()
        .from(journal)
        .where(eq(journal.item, `${first!.lane}:${first!.nonce}`)),
    )
    expect(new Set(lines.map(({ event }) => event))).toEqual(new Set(['2 take']))
    const { gasUsed, effectiveGasPrice } = await chain.getTransactionReceipt({
      hash: first!.txHash!,
    })
    const gas = lines.filter(({ account }) => account === 'gas').map(({ amount }) => amount)
    expect(gas).toEqual([gasUsed * effectiveGasPrice])
  })

  test('proceed without a cancelled one, whose wallet is charged its share of the gas', async () => {
    const context = await fixture.begin()
    const takes = await severalTakes(3)
    await order(takes)
    await assign(context)
    const [cancelled, ...others] = takes
    const cancel = await cancelData(cancelled!.key, cancelled!.signed.nonce, contracts.domain)
    await fixture.submit(actorKeys.budi, contracts.ausd, cancel)
    const ended = await endOf(context, others)
    expect(ended.map(({ state }) => state)).toEqual(['settled', 'settled'])
    expect(await fixture.finish(context, cancelled!.task)).toMatchObject({
      state: 'failed',
      reason: 'authorization_cancelled',
      tries: 1,
    })
    const wallet = cancelled!.address.toLowerCase() as Hex
    const [paid] = await database.read((db) => db.select().from(revertedGas).where(eq(revertedGas.wallet, wallet)))
    const hash = ended[0]!.txHash!
    const { gasUsed, effectiveGasPrice } = await chain.getTransactionReceipt({ hash })
    expect(paid?.wei).toBe((gasUsed * effectiveGasPrice) / 3n)
  })

  test('count one submitted by a third party as taken, by that transaction', async () => {
    const context = await fixture.begin()
    const takes = await severalTakes(2)
    await order(takes)
    await assign(context)
    const [theirs, ours] = takes
    const hash = await fixture.submit(actorKeys.budi, contracts.ausd, transferData(theirs!.signed))
    const [mine] = await endOf(context, [ours!])
    expect(mine!.txHash).not.toBe(hash)
    expect(await fixture.finish(context, theirs!.task)).toMatchObject({
      state: 'settled',
      txHash: hash,
      tries: 1,
    })
    expect(await fixture.balanceOf(theirs!.address)).toBe(6_000_000n)
  })

  test('proceed without one whose wallet has become empty', async () => {
    const context = await fixture.begin()
    const takes = await severalTakes(3)
    const [empty, ...others] = takes
    const data = encodeFunctionData({
      abi: ausdAbi,
      functionName: 'transfer',
      args: [recipient, 9_000_000n],
    })
    await fixture.submit(empty!.key, contracts.ausd, data)
    await order(takes)
    const ended = await endOf(context, others)
    expect(new Set(ended.map(({ txHash }) => txHash)).size).toBe(1)
    expect(await fixture.finish(context, empty!.task)).toMatchObject({
      state: 'failed',
      reason: 'balance_too_low',
      nonce: null,
    })
  })

  // guard: a transfer gets a nonce only if its wallet can pay it in addition to those in flight
  test('security: from one balance get a nonce only as far as the balance covers them', async () => {
    const context = await fixture.begin()
    const wallet = await newWallet(fixture)
    const takes = [await signedTake(wallet, 6_000_000n), await signedTake(wallet, 6_000_000n)]
    takes.push(await signedTake())
    await order(takes)
    await assign(context)
    const states = []
    for (const { task } of takes) states.push((await fixture.operationOf(task)).state)
    expect(states.sort()).toEqual(['assigned', 'assigned', 'waiting'])
    const ended = await endOf(context, takes)
    expect(ended.map(({ state }) => state).sort()).toEqual(['failed', 'settled', 'settled'])
    expect(await fixture.balanceOf(wallet.address)).toBe(4_000_000n)
  })

  test('are simulated one by one if no endpoint can simulate them together', async () => {
    const context = await fixture.begin()
    fixture.endpoint.intercept = (method, _, [call]) =>
      method === 'eth_call' && (call as { from?: Hex; to: Hex }).from !== undefined
        ? (call as { to: Hex }).to === multicall3
          ? Promise.resolve(new Response('', { status: 503 }))
          : undefined
        : undefined
    const takes = await severalTakes(2)
    await order(takes)
    const ended = await endOf(context, takes)
    expect(ended.map(({ state }) => state)).toEqual(['settled', 'settled'])
    expect(new Set(ended.map(({ txHash }) => txHash)).size).toBe(2)
  })

  test('are resent unchanged by the next process, and happen once', async () => {
    const takes = await severalTakes(2)
    await order(takes)
    await assign(await fixture.begin())
    const before = await rowOf(await fixture.operationOf(takes[0]!.task))
    const next = await fixture.begin()
    await relayOnce(next)
    const ended = await endOf(next, takes)
    expect(ended.map(({ nonce }) => nonce)).toEqual([before.nonce, before.nonce])
    for (const { address } of takes) expect(await fixture.balanceOf(address)).toBe(6_000_000n)
  })
})
