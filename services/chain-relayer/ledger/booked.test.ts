import { afterAll, afterEach, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { actors } from '#test/support/contracts'
import { attempts, transactions } from '../lanes/lane.store'
import type { Task } from '../operations/operation'
import { operations } from '../operations/operation.table'
import { relayOnce } from '../relay-loop'
import { journal } from '../schema.store'
import { newNonce, newRefId, newWallet, openFixture, take, until } from '../test-support'

const fixture = await openFixture()
afterAll(fixture.close)
afterEach(() => {
  fixture.endpoint.intercept = undefined
})
const { chain, database } = fixture
const lane = fixture.keys[0]!.address.toLowerCase() as Hex
const ana = actors.ana.address.toLowerCase() as Hex

const credit = (): Task => ({
  kind: 'credit',
  payload: { refId: newRefId(), wallet: ana, ausd: '1000000', held: false },
})
const drip = (wallet: Hex): Task => ({ kind: 'drip', payload: { wallet } })

const linesOf = async (nonce: number) => {
  const rows = await database.read((db) =>
    db
      .select()
      .from(journal)
      .where(eq(journal.item, `${lane}:${nonce}`)),
  )
  return {
    events: [...new Set(rows.map(({ event }) => event))],
    wei: Object.fromEntries(rows.map(({ account, amount }) => [account, amount])),
  }
}

async function explains(work: () => Promise<unknown>) {
  const read = async () => {
    const rows = await database.read((db) => db.select().from(journal).where(eq(journal.account, 'lanes')))
    return {
      balanceWei: await chain.getBalance({ address: lane }),
      bookedWei: rows.reduce((sum, { amount }) => sum + amount, 0n),
    }
  }
  const before = await read()
  await work()
  const after = await read()
  const goneWei = before.balanceWei - after.balanceWei
  expect(goneWei).toBeGreaterThan(0n)
  expect(before.bookedWei - after.bookedWei).toBe(goneWei)
  return goneWei
}

test('a credit costs its gas, and a drip its gas and its value', async () => {
  const context = await fixture.begin()
  const { address } = privateKeyToAccount(generatePrivateKey())
  const [plain, given] = [credit(), drip(address)]
  await explains(async () => {
    for (const task of [plain, given]) await fixture.command(task)
    for (const task of [plain, given]) await fixture.finish(context, task)
  })
  const [one, other] = await Promise.all([plain, given].map(fixture.operationOf))
  expect(await linesOf(one!.nonce!)).toMatchObject({
    events: ['credit'],
    wei: { gas: expect.any(BigInt) },
  })
  const { events, wei } = await linesOf(other!.nonce!)
  expect(events).toEqual(['drip'])
  expect(wei).toMatchObject({ drips: context.settings.dripWei })
})

test('operations in one transaction are one journal entry, under their shared nonce', async () => {
  const context = await fixture.begin()
  const tasks = [credit(), credit(), credit()]
  await explains(async () => {
    for (const task of tasks) await fixture.command(task)
    for (const task of tasks) await fixture.finish(context, task)
  })
  const { nonce } = await fixture.operationOf(tasks[0]!)
  expect((await linesOf(nonce!)).events).toEqual(['3 credit'])
})

test('a drip that reverts costs its gas and gives nothing', async () => {
  const context = await fixture.begin()
  const { address } = privateKeyToAccount(generatePrivateKey())
  await chain.setCode({ address, bytecode: '0x60006000fd' })
  fixture.endpoint.intercept = (method, _, [call]) =>
    method === 'eth_call' && (call as { to: string }).to.toLowerCase() === address.toLowerCase()
      ? Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, result: '0x' }))
      : undefined
  await explains(async () => {
    await fixture.command(drip(address))
    await until(async () => {
      await relayOnce(context)
      return (await fixture.operationOf(drip(address))).tries > 0
    }, 'a revert')
  })
  const { nonce } = await fixture.operationOf(drip(address))
  const { events, wei } = await linesOf(nonce!)
  expect(events).toEqual(['drip, reverted'])
  expect(wei.drips).toBeUndefined()
  await database.run((db) => db.delete(operations).where(eq(operations.wallet, address.toLowerCase() as Hex)))
})

test('an operation whose nonce a noop used costs the gas of the noop', async () => {
  const context = await fixture.begin()
  const { key } = await newWallet(fixture)
  const to = fixture.treasury.address
  const task = take(await fixture.sign(key, { to, value: 1_000_000n, nonce: newNonce() }))
  // No endpoint accepts the raw call, so a noop has to use its nonce.
  fixture.endpoint.intercept = (method, _, [raw]) =>
    method === 'eth_sendRawTransaction' && String(raw).length > 400
      ? Promise.resolve(
          Response.json({
            jsonrpc: '2.0',
            id: 1,
            error: { code: -32603, message: 'Exceeds transaction gas limit' },
          }),
        )
      : undefined
  await fixture.command(task)
  await explains(() =>
    until(async () => {
      await relayOnce(context)
      return (await fixture.operationOf(task)).tries > 0
    }, 'the noop'),
  )
  const [first] = await database.read((db) => db.select().from(transactions).where(eq(transactions.outcome, 'noop')))
  expect((await linesOf(first!.nonce)).events).toEqual(['take, replaced by a noop'])
  fixture.endpoint.intercept = undefined
  expect((await fixture.finish(context, task)).state).toBe('settled')
})

test('security: a foreign transaction by the key of a lane is in the books, with gas and value', async () => {
  const context = await fixture.begin()
  const nonce = await chain.getTransactionCount({ address: lane })
  fixture.endpoint.intercept = (method) =>
    method === 'eth_sendRawTransaction'
      ? Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, result: `0x${'00'.repeat(32)}` }))
      : undefined
  const task = credit()
  await fixture.command(task)
  await relayOnce(context)
  const stolenWei = 3_000_000_000_000_000n
  await explains(async () => {
    const [account] = fixture.keys
    const to = actors.budi.address
    const hash = await chain.sendTransaction({
      account: account!,
      to,
      nonce,
      value: stolenWei,
      chain: null,
    })
    await chain.waitForTransactionReceipt({ hash, pollingInterval: 50 })
    fixture.endpoint.intercept = undefined
    await fixture.finish({ ...context, clock: () => Date.now() + 61_000 }, task)
  })
  const { events, wei } = await linesOf(nonce)
  expect(events).toEqual(['credit, nonce used by another sender'])
  expect(wei).toMatchObject({ suspense: stolenWei })
})

test('a receipt without gas or price is read as the chain charges', async () => {
  const context = await fixture.begin()
  type Told = Record<string, unknown> | null
  const bare = (receipt: Told): Told => receipt && { ...receipt, gasUsed: undefined, effectiveGasPrice: undefined }
  fixture.endpoint.intercept = (method, forward) =>
    /^eth_get(Transaction|Block)Receipts?$/.test(method)
      ? forward().then(async (answer) => {
          const { result, ...rest } = (await answer.json()) as { result: Told | Told[] }
          return Response.json({
            ...rest,
            result: Array.isArray(result) ? result.map(bare) : bare(result),
          })
        })
      : undefined
  const task = credit()
  await fixture.command(task)
  const { nonce, blockNumber } = await fixture.finish(context, task)
  const [attempt] = await database.read((db) => db.select().from(attempts).where(eq(attempts.nonce, nonce!)))
  const { baseFeePerGas } = await chain.getBlock({ blockNumber: blockNumber! })
  const priceWei = baseFeePerGas! + attempt!.priorityWei
  expect((await linesOf(nonce!)).wei.gas).toBe(attempt!.gas * priceWei)
})
