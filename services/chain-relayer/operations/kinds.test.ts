import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { encodeFunctionData, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { pause } from '#platform/deadline'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { actorKeys } from '#test/support/contracts'
import { returnNonce } from '../keys/policy'
import { holdLanes } from '../lanes/held-lanes'
import { relayOnce } from '../relay-loop'
import {
  cancelData,
  freeze,
  listening,
  newNonce,
  newRefId,
  newWallet,
  openFixture,
  recipient,
  take,
  transferData,
  until,
  verify,
} from '../test-support'
import { assignWaiting } from '../transactions/assign'
import { renewStuck } from '../transactions/broadcast'
import type { Task } from './operation'
import { operations } from './operation.table'

const fixture = await openFixture()
afterAll(fixture.close)
afterEach(() => {
  fixture.endpoint.intercept = undefined
})
const { chain, contracts } = fixture
const treasury = fixture.treasury.address

describe('a take', () => {
  const signedTake = async (micro = 4_000_000n, forSeconds?: number) => {
    const { key, address } = await newWallet(fixture)
    const nonce = newNonce()
    const signed = await fixture.sign(key, { to: treasury, value: micro, nonce, forSeconds })
    return { key, address, signed, task: take(signed) }
  }

  test('moves the AUSD to the treasury once', async () => {
    const context = await fixture.begin()
    const { address, task } = await signedTake()
    await fixture.command(task)
    expect((await fixture.finish(context, task)).state).toBe('settled')
    expect(await fixture.balanceOf(address)).toBe(6_000_000n)
  })

  test('submitted first by a third party counts as taken, by that transaction', async () => {
    const context = await fixture.begin()
    const { task, signed } = await signedTake()
    const hash = await fixture.submit(actorKeys.budi, contracts.ausd, transferData(signed))
    await fixture.command(task)
    expect(await fixture.finish(context, task)).toMatchObject({ state: 'settled', txHash: hash })
  })

  test('submitted by a third party while ours is in the mempool counts as taken', async () => {
    const context = await fixture.begin()
    const { address, task, signed } = await signedTake()
    await fixture.command(task)
    fixture.endpoint.intercept = (method, forward) =>
      method === 'eth_sendRawTransaction'
        ? fixture.submit(actorKeys.budi, contracts.ausd, transferData(signed)).then(forward)
        : undefined
    await relayOnce(context)
    fixture.endpoint.intercept = undefined
    const done = await fixture.finish(context, task)
    expect(done).toMatchObject({ state: 'settled', tries: 1 })
    expect(await fixture.balanceOf(address)).toBe(6_000_000n)
  })

  test('of a wallet that has become empty fails and sends nothing', async () => {
    const context = await fixture.begin()
    const { key, address, task } = await signedTake()
    const away = encodeFunctionData({
      abi: ausdAbi,
      functionName: 'transfer',
      args: [recipient, 9_000_000n],
    })
    await fixture.submit(key, contracts.ausd, away)
    await fixture.command(task)
    const done = await fixture.finish(context, task)
    expect(done).toMatchObject({ state: 'failed', reason: 'balance_too_low', nonce: null })
    expect(await fixture.balanceOf(address)).toBe(1_000_000n)
  })

  test('of a cancelled authorization fails', async () => {
    const context = await fixture.begin()
    const { key, signed, task } = await signedTake()
    const cancel = await cancelData(key, signed.nonce, contracts.domain)
    await fixture.submit(actorKeys.budi, contracts.ausd, cancel)
    await fixture.command(task)
    const done = await fixture.finish(context, task)
    expect(done).toMatchObject({ state: 'failed', reason: 'authorization_cancelled' })
  })

  test('of an expired authorization fails, but one used in time is found', async () => {
    const context = await fixture.begin()
    const [late, used] = [await signedTake(1n, 30), await signedTake(1n, 30)]
    await fixture.submit(actorKeys.budi, contracts.ausd, transferData(used.signed))
    await chain.increaseTime({ seconds: 30 })
    await until(async () => {
      const { timestamp } = await chain.getBlock({ blockTag: 'finalized' })
      return timestamp > BigInt(used.signed.validBefore)
    }, 'the end of the window')
    for (const { task } of [late, used]) await fixture.command(task)
    expect(await fixture.finish(context, late.task)).toMatchObject({
      state: 'failed',
      reason: 'authorization_expired',
    })
    expect((await fixture.finish(context, used.task)).state).toBe('settled')
  })

  // guard: unique index chain_relayer.operation_authorization_once
  test('security: a second payout out of the same authorization fails at once', async () => {
    const context = await fixture.begin()
    const { signed, task } = await signedTake()
    const respelt = signed.nonce.toUpperCase().replace('0X', '0x') as Hex
    const second = take({ ...signed, nonce: respelt })
    await fixture.command(task)
    await fixture.command(second)
    expect((await fixture.finish(context, task)).state).toBe('settled')
    expect(await fixture.operationOf(second)).toMatchObject({
      state: 'failed',
      reason: 'authorization_conflict',
    })
  })

  // guard: the use of an authorization is matched to the transfer logged right after it
  test('security: a nonce used for another transfer is not a take', async () => {
    const context = await fixture.begin()
    const { key, signed, task } = await signedTake()
    const { nonce } = signed
    const other = await fixture.sign(key, { to: treasury, value: 1n, nonce: nonce as Hex })
    await fixture.submit(actorKeys.budi, contracts.ausd, transferData(other))
    await fixture.command(task)
    expect(await fixture.finish(context, task)).toMatchObject({
      state: 'failed',
      reason: 'authorization_used_elsewhere',
    })
  })
})

describe('a take that is not mined in time', () => {
  test('security: is assigned no lane in its last minute, and fails when it expires', async () => {
    const context = await fixture.begin()
    const { key, address } = await newWallet(fixture)
    // The chain's clock is half a minute ahead by now.
    const window = { nonce: newNonce(), forSeconds: 85 }
    const task = take(await fixture.sign(key, { to: treasury, value: 1n, ...window }))
    await fixture.command(task)
    await relayOnce(context)
    expect((await fixture.operationOf(task)).state).toBe('waiting')
    await chain.increaseTime({ seconds: 60 })
    const ended = { state: 'failed', reason: 'authorization_expired', lane: null }
    expect(await fixture.finish(context, task)).toMatchObject(ended)
    expect(await fixture.balanceOf(address)).toBe(10_000_000n)
  })

  test('is replaced by a noop at its nonce, and fails without a transfer', async () => {
    const context = await fixture.begin()
    const { key, address } = await newWallet(fixture)
    const nonce = newNonce()
    const signed = await fixture.sign(key, { to: treasury, value: 1n, nonce, forSeconds: 250 })
    const task = take(signed)
    await fixture.command(task)
    fixture.endpoint.intercept = (method) =>
      method === 'eth_sendRawTransaction'
        ? Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, result: nonce }))
        : undefined
    await relayOnce(context)
    fixture.endpoint.intercept = undefined
    const later = { ...context, clock: () => Date.now() + 290_000 }
    await until(async () => {
      await renewStuck(later, await holdLanes(later))
      const [transaction] = (await holdLanes(later))[0]!.open
      return transaction?.attempts.some(({ purpose }) => purpose === 'noop')
    }, 'a noop')
    await chain.increaseTime({ seconds: 160 })
    await until(async () => {
      const { timestamp } = await chain.getBlock({ blockTag: 'finalized' })
      return timestamp >= BigInt(signed.validBefore)
    }, 'the end of the window')
    const done = await fixture.finish(context, task)
    expect(done).toMatchObject({ state: 'failed', reason: 'authorization_expired', tries: 1 })
    expect(await fixture.balanceOf(address)).toBe(10_000_000n)
  })
})

describe('a return', () => {
  const giveBack = (wallet: `0x${string}`): Task & { kind: 'return' } => ({
    kind: 'return',
    payload: { payoutId: crypto.randomUUID(), wallet, ausd: '2000000' },
  })

  test('transfers the AUSD once; the token itself refuses a second time', async () => {
    const context = await fixture.begin()
    const { address } = await newWallet(fixture, 0n)
    const task = giveBack(address)
    await fixture.command(task)
    await fixture.command(task)
    expect((await fixture.finish(context, task)).state).toBe('settled')
    expect(await fixture.balanceOf(address)).toBe(2_000_000n)
    const state = await chain.readContract({
      address: contracts.ausd,
      abi: ausdAbi,
      functionName: 'authorizationState',
      args: [treasury, returnNonce(task.payload.payoutId)],
    })
    expect(state).toBe(true)
  })

  // guard: a return has one nonce, so that the token refuses a second
  test('already made before the database was lost is recognised, not repeated', async () => {
    const context = await fixture.begin()
    const { address } = await newWallet(fixture, 0n)
    const task = giveBack(address)
    const nonce = returnNonce(task.payload.payoutId)
    const terms = { to: address, value: 2_000_000n, nonce }
    const signed = await fixture.sign(actorKeys.treasury, terms)
    await fixture.submit(actorKeys.budi, contracts.ausd, transferData(signed))
    await fixture.command(task)
    expect((await fixture.finish(context, task)).state).toBe('settled')
    expect(await fixture.balanceOf(address)).toBe(2_000_000n)
  })
})

describe('a drip', () => {
  const drip = (wallet: `0x${string}`): Task & { kind: 'drip' } => ({
    kind: 'drip',
    payload: { wallet },
  })

  test('is given once per wallet, in any spelling of its address', async () => {
    const context = await fixture.begin()
    const { address } = privateKeyToAccount(generatePrivateKey())
    await fixture.command(drip(address))
    expect((await fixture.finish(context, drip(address))).state).toBe('settled')
    await fixture.command(drip(address.toLowerCase() as `0x${string}`))
    await relayOnce(context)
    await pause(300)
    await relayOnce(context)
    expect(await chain.getBalance({ address })).toBe(context.settings.dripWei)
  })

  test('to a wallet with enough is done without a transaction', async () => {
    const context = await fixture.begin()
    const { address } = await newWallet(fixture, 0n)
    await fixture.command(drip(address))
    const done = await fixture.finish(context, drip(address))
    expect(done).toMatchObject({ state: 'settled', txHash: null, nonce: null })
  })

  test('to a wallet whose code needs gas, such as one that delegates to a contract, is given with more', async () => {
    const context = await fixture.begin()
    const { address } = privateKeyToAccount(generatePrivateKey())
    const readsStorage = '0x60005400'
    await chain.setCode({ address, bytecode: readsStorage })
    await fixture.command(drip(address))
    expect(await fixture.finish(context, drip(address))).toMatchObject({ state: 'settled', tries: 1 })
    expect(await chain.getBalance({ address })).toBe(context.settings.dripWei)
  })

  // Monad reverts transfers out of an account's reserve, which is no fault of the wallet.
  test('that reverted is retried once after a delay', async () => {
    const context = await fixture.begin()
    const { address } = privateKeyToAccount(generatePrivateKey())
    const refuses = '0x60006000fd'
    await chain.setCode({ address, bytecode: refuses })
    fixture.endpoint.intercept = (method, _, [call]) =>
      method === 'eth_call' && (call as { to: string }).to.toLowerCase() === address.toLowerCase()
        ? Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, result: '0x' }))
        : undefined
    await fixture.command(drip(address))
    await until(async () => {
      await relayOnce(context)
      return (await fixture.operationOf(drip(address))).tries > 0
    }, 'a revert')
    fixture.endpoint.intercept = undefined
    expect(await fixture.operationOf(drip(address))).toMatchObject({ state: 'waiting', tries: 1 })
    await relayOnce(context)
    expect((await fixture.operationOf(drip(address))).state).toBe('waiting')
    await chain.setCode({ address, bytecode: '0x' })
    await fixture.database.run((db) => db.update(operations).set({ notBefore: new Date() }))
    expect((await fixture.finish(context, drip(address))).state).toBe('settled')
    expect(await chain.getBalance({ address })).toBe(context.settings.dripWei)
  })

  test('waits with an alert while the lane would fall below its floor', async () => {
    const context = listening(await fixture.begin({ laneMinBalanceWei: 10n ** 30n }))
    const { address } = privateKeyToAccount(generatePrivateKey())
    await fixture.command(drip(address))
    await relayOnce(context)
    expect((await fixture.operationOf(drip(address))).state).toBe('waiting')
    const lane = fixture.keys[0]!.address
    const balanceWei = String(await chain.getBalance({ address: lane }))
    const msg = 'lane balance too low for drips: fund it'
    expect(context.raised).toMatchObject([{ msg, lane: lane.toLowerCase(), balanceWei }])
    const funded = listening(await fixture.begin())
    await fixture.database.run((db) => db.update(operations).set({ notBefore: new Date() }))
    expect((await fixture.finish(funded, drip(address))).state).toBe('settled')
    expect(funded.raised).toEqual([])
  })
})

describe('verdicts on one wallet', () => {
  // guard: of two verdicts on a wallet, the newest counts
  test('to freeze it in the wrong order end with the newest', async () => {
    const context = await fixture.begin()
    const { address } = await newWallet(fixture, 0n)
    const [newer, older] = [freeze(address, false, 9n), freeze(address, true, 5n)]
    for (const task of [newer, older]) await fixture.command(task)
    expect((await fixture.finish(context, newer)).state).toBe('settled')
    expect(await fixture.finish(context, older)).toMatchObject({ state: 'settled', txHash: null })
    expect((await fixture.lineOf(address)).frozen).toBe(false)
  })

  test('to freeze it wait for each other on any number of lanes', async () => {
    const context = await fixture.begin()
    const { address } = await newWallet(fixture, 0n)
    const [first, second] = [freeze(address, true, 1n), freeze(address, false, 2n)]
    await fixture.command(first)
    await assignWaiting(context, await holdLanes(context))
    await fixture.command(second)
    await assignWaiting(context, await holdLanes(context))
    expect((await fixture.operationOf(second)).state).toBe('waiting')
    await fixture.finish(context, second)
    expect((await fixture.lineOf(address)).frozen).toBe(false)
  })

  test('to freeze and to verify it are ordered separately', async () => {
    const context = await fixture.begin()
    const { address } = await newWallet(fixture, 0n)
    const tasks = [verify(address, true, 9n), freeze(address, true, 5n)]
    for (const task of tasks) await fixture.command(task)
    for (const task of tasks) await fixture.finish(context, task)
    expect(await fixture.lineOf(address)).toMatchObject({ verified: true, frozen: true })
  })

  test('in the wrong order end with the newest', async () => {
    const context = await fixture.begin()
    const { address } = await newWallet(fixture, 0n)
    const [newer, older] = [verify(address, false, 9n), verify(address, true, 5n)]
    await fixture.command(newer)
    await fixture.command(older)
    expect((await fixture.finish(context, newer)).state).toBe('settled')
    expect(await fixture.finish(context, older)).toMatchObject({ state: 'settled', txHash: null })
    expect((await fixture.lineOf(address)).verified).toBe(false)
  })
})

describe('several revocations of one payment', () => {
  const wallet: Hex = `0x${'c1'.repeat(20)}`
  const pending = async () => (await fixture.lineOf(wallet)).pendingShares / 10n ** 12n
  const revoke = (refId: string, left?: string): Task => ({
    kind: 'revoke',
    payload: { refId, wallet, of: 'topup', ...(left ? { left } : {}) },
  })
  async function done(tasks: readonly Task[]) {
    const context = await fixture.begin()
    for (const task of tasks) await fixture.command(task)
    const ended = []
    for (const task of tasks) ended.push((await fixture.finish(context, task)).state)
    return ended
  }
  async function heldTopUp() {
    const refId = newRefId()
    await done([{ kind: 'credit', payload: { refId, wallet, ausd: '20000000', held: true } }])
    return refId
  }

  test.each([[['9000000', '4000000']], [['4000000', '9000000', '4000000']]])(
    'with the remainders %j leave the smallest one',
    async (lefts) => {
      const before = await pending()
      const refId = await heldTopUp()
      const ended = await done(lefts.map((left) => revoke(refId, left)))
      expect(new Set(ended)).toEqual(new Set(['settled']))
      expect((await pending()) - before).toBe(4n)
    },
  )

  test('leave nothing after a full one, and are settled after the hold too', async () => {
    const before = await pending()
    const refId = await heldTopUp()
    await done([revoke(refId)])
    await chain.increaseTime({ seconds: 65 })
    await chain.mine({ blocks: 3 })
    expect(await done([revoke(refId, '4000000')])).toEqual(['settled'])
    expect(await pending()).toBeLessThanOrEqual(before)
  })
})

// This test is last because it moves the chain's clock, and every other transfer of this file is signed by our clock.
test('a return is valid by the clock of a chain that is days ahead of ours', async () => {
  const context = await fixture.begin()
  const { address } = await newWallet(fixture, 0n)
  await chain.increaseTime({ seconds: 3 * 86_400 })
  await chain.mine({ blocks: 3 })
  const payload = { payoutId: crypto.randomUUID(), wallet: address, ausd: '2000000' }
  await fixture.command({ kind: 'return', payload })
  expect((await fixture.finish(context, { kind: 'return', payload })).state).toBe('settled')
  expect(await fixture.balanceOf(address)).toBe(2_000_000n)
})
