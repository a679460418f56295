import { afterAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { eq } from 'drizzle-orm'
import type { Hex } from 'viem'
import { actors } from '#test/support/contracts'
import { attempts } from '../lanes/lane.store'
import { orderOf, type Task } from '../operations/operation'
import { operations } from '../operations/operation.table'
import { revertedGas } from '../operations/reverted-gas.store'
import { relayOnce } from '../relay-loop'
import { listening, newNonce, newRefId, newWallet, openFixture, take, until } from '../test-support'
import { signedAmounts } from './signed-amounts.store'

const fixture = await openFixture()
afterAll(fixture.close)
const { database } = fixture
const ana = actors.ana.address.toLowerCase() as `0x${string}`
const lane = fixture.keys[0]!.address.toLowerCase() as `0x${string}`

const credit = (ausd: bigint): Task & { kind: 'credit' } => ({
  kind: 'credit',
  payload: { refId: newRefId(), wallet: ana, ausd: String(ausd), held: false },
})
const giveBack = (ausd: bigint): Task & { kind: 'return' } => ({
  kind: 'return',
  payload: { payoutId: crypto.randomUUID(), wallet: ana, ausd: String(ausd) },
})
const sumOf = async (signer: string): Promise<bigint> => {
  const rows = await database.read((db) =>
    db
      .select({ amount: signedAmounts.amount })
      .from(signedAmounts)
      .where(eq(signedAmounts.signer, signer as `0x${string}`)),
  )
  return rows.reduce((sum, { amount }) => sum + amount, 0n)
}
const begin = async (limits: Parameters<typeof fixture.signersOf>[0], settings = {}) => ({
  ...(await fixture.begin(settings)),
  ...fixture.signersOf(limits),
})
const isHeld = async (task: Task) => {
  const { state, reason } = await fixture.operationOf(task)
  return state === 'waiting' && reason === 'policy_refused'
}
const areEnded = (tasks: readonly Task[]) =>
  Promise.all(tasks.map(async (task) => (await isHeld(task)) || (await fixture.operationOf(task)).state === 'settled'))
const attemptsOf = async (nonce: number): Promise<number> =>
  (await database.read((db) => db.select().from(attempts).where(eq(attempts.nonce, nonce)))).length
/** Ends the wait of an operation, as a restart with a higher limit does. */
const release = (task: Task) =>
  database.run((db) =>
    db
      .update(operations)
      .set({ notBefore: new Date() })
      .where(eq(operations.id, orderOf(task).id)),
  )

/** Makes the endpoint accept transactions and drop them. */
function dropAll() {
  fixture.endpoint.intercept = (method) =>
    method === 'eth_sendRawTransaction'
      ? Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, result: `0x${'00'.repeat(32)}` }))
      : undefined
}

test('security: only one file reads the private keys and signs', () => {
  const folder = join(import.meta.dir, '..')
  const sources = [...new Glob('**/*.ts').scanSync(folder)].filter((path) => !/\.test\.ts$|test-support/.test(path))
  const signing = /viem\/accounts|signTransaction|signTypedData|signMessage|\.sign\(\{/
  const found = sources.filter((path) => signing.test(readFileSync(join(folder, path), 'utf8')))
  expect(found).toEqual(['keys/keys.ts'])
})

describe('security: above the limit', () => {
  // guard: a key signs no more in one operation than its limit
  test('for one operation it is not signed until an operator acts, and other operations pass', async () => {
    const context = listening(await begin({ credit: { most: 5_000_000n, day: 10n ** 15n } }))
    const [much, one, another] = [credit(5_000_001n), credit(1_000_000n), credit(1_000_000n)]
    for (const task of [one, much, another]) await fixture.command(task)
    for (const task of [one, another]) expect((await fixture.finish(context, task)).state).toBe('settled')
    expect(await isHeld(much)).toBe(true)
    const msg = 'policy refused an operation, needs manual review'
    const { id } = await fixture.operationOf(much)
    expect(context.raised).toMatchObject([
      { msg, operationId: id, kind: 'credit', why: expect.stringMatching(/credit/) },
    ])
    const higher = listening(await fixture.begin())
    await release(much)
    expect((await fixture.finish(higher, much)).state).toBe('settled')
    expect(higher.raised).toEqual([])
  })

  test('for a day only the operations that fit are done, packed or not, also by a later process', async () => {
    const before = await sumOf(lane)
    const limits = { credit: { most: 10n ** 12n, day: before + 5_000_000n } }
    const tasks = [credit(3_000_000n), credit(2_000_000n), credit(1_000_000n)]
    for (const task of tasks) await fixture.command(task)
    const context = await begin(limits)
    await until(async () => {
      await relayOnce(context)
      return (await areEnded(tasks)).every(Boolean)
    }, 'each being done or held')
    expect((await sumOf(lane)) - before).toBeLessThanOrEqual(5_000_000n)
    const held = []
    for (const task of tasks) if (await isHeld(task)) held.push(task)
    expect(held).toHaveLength(1)
    await release(held[0]!)
    await relayOnce(await begin(limits))
    expect(await isHeld(held[0]!)).toBe(true)
    await release(held[0]!)
    expect((await fixture.finish(await fixture.begin(), held[0]!)).state).toBe('settled')
  })

  // guard: a key signs no more in a day than its limit
  test('for returns the treasury signs nothing', async () => {
    const context = await begin({ return: { most: 1_000_000n, day: 1_500_000n } })
    const before = await fixture.balanceOf(ana)
    const tasks = [giveBack(1_000_001n), giveBack(1_000_000n), giveBack(900_000n)]
    for (const task of tasks) await fixture.command(task)
    await until(async () => {
      await relayOnce(context)
      return (await areEnded(tasks)).every(Boolean)
    }, 'each being done or held')
    const held = await Promise.all(tasks.map(isHeld))
    expect(held.filter(Boolean)).toHaveLength(2)
    expect(held[0]).toBe(true)
    for (const task of tasks) {
      await release(task)
      await fixture.finish(await fixture.begin(), task)
    }
    expect((await fixture.balanceOf(ana)) - before).toBe(2_900_001n)
  })
})

describe('security: the return of a final take', () => {
  const treasury = fixture.treasury.address
  async function taken(context: Awaited<ReturnType<typeof begin>>, to: Hex = treasury) {
    const wallet = await newWallet(fixture)
    const signed = await fixture.sign(wallet.key, { to, value: 2_000_000n, nonce: newNonce() })
    const task = take(signed)
    await fixture.command(task)
    await fixture.finish(context, task)
    const back = (ausd: bigint, payoutId = task.payload.payoutId, to: Hex = wallet.address) => ({
      kind: 'return' as const,
      payload: { payoutId, wallet: to.toLowerCase() as Hex, ausd: String(ausd) },
    })
    return { ...wallet, task, back }
  }
  const nothingLeft = { return: { most: 100_000_000n, day: 0n } }

  test('is signed although the daily limit is used up, and does not count against it', async () => {
    const context = await begin(nothingLeft)
    const before = await sumOf(treasury.toLowerCase())
    const { address, back } = await taken(context)
    const task = back(2_000_000n)
    await fixture.command(task)
    expect((await fixture.finish(context, task)).state).toBe('settled')
    expect(await fixture.balanceOf(address)).toBe(10_000_000n)
    expect(await sumOf(treasury.toLowerCase())).toBe(before)
    const wallet = address.toLowerCase() as Hex
    const paid = await database.read((db) => db.select().from(revertedGas).where(eq(revertedGas.wallet, wallet)))
    expect(paid).toHaveLength(2) // The journal has the gas of the take and of its return.
  })

  test('waits for an operator if it exceeds the take, goes to another wallet or to another payout', async () => {
    const context = await begin(nothingLeft)
    const [one, two] = [await taken(context), await taken(context, actors.budi.address)]
    const tasks = [
      one.back(2_000_001n),
      (await taken(context)).back(2_000_000n, undefined, ana),
      one.back(2_000_000n, crypto.randomUUID()),
      two.back(2_000_000n),
    ]
    for (const task of tasks) await fixture.command(task)
    await until(async () => {
      await relayOnce(context)
      return (await Promise.all(tasks.map(isHeld))).every(Boolean)
    }, 'all being held')
    for (const task of tasks) {
      await release(task)
      await fixture.finish(await fixture.begin(), task)
    }
  })
})

// guard: a transaction re-signed with a higher fee counts once
test('a transaction that is signed again with a higher fee counts once', async () => {
  const context = await fixture.begin()
  const before = await sumOf(lane)
  dropAll()
  const task = credit(4_000_000n)
  await fixture.command(task)
  await until(async () => {
    await relayOnce(context)
    const held = await fixture.operationOf(task)
    return held.state === 'assigned' && (await attemptsOf(held.nonce!)) > 1
  }, 'a second attempt')
  fixture.endpoint.intercept = undefined
  await fixture.finish(context, task)
  expect((await sumOf(lane)) - before).toBe(4_000_000n)
})

test('a transaction above a limit that was lowered since is not signed again, with an alert, and its first attempt stands', async () => {
  const task = credit(4_000_000n)
  const before = await fixture.begin()
  dropAll()
  await fixture.command(task)
  await until(async () => {
    await relayOnce(before)
    return (await fixture.operationOf(task)).state === 'assigned'
  }, 'a nonce')
  const { nonce } = await fixture.operationOf(task)
  const signed = await attemptsOf(nonce!)
  const lowered = listening(await begin({ credit: { most: 3_999_999n, day: 10n ** 15n } }))
  await until(async () => {
    await relayOnce(lowered)
    return lowered.raised.length > 0
  }, 'the alert')
  const msg = 'policy refused a fee bump'
  expect(lowered.raised).toMatchObject([{ msg, lane, nonce, why: expect.stringMatching(/credit/) }])
  expect(await attemptsOf(nonce!)).toBe(signed)
  fixture.endpoint.intercept = undefined
  expect((await fixture.finish(lowered, task)).state).toBe('settled')
})
