import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { encodeFunctionData, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { actorKeys } from '#infra/contracts/stage'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { holdLanes } from './lanes'
import type { Task } from './operation'
import { renewStuck } from './renew'
import { openStage, until } from './rig/stage'
import { newNonce, newWallet, stranger, take, transferData } from './rig/wallets'
import { round } from './rounds'
import { returnNonce } from './signer'

const stage = await openStage()
afterAll(stage.close)
afterEach(() => {
  stage.liar.interfere = undefined
})
const { chain, contracts } = stage
const treasury = stage.treasury.address

describe('a take', () => {
  const signedTake = async (micro = 4_000_000n, forSeconds?: number) => {
    const { key, address } = await newWallet(stage)
    const nonce = newNonce()
    const signed = await stage.sign(key, { to: treasury, value: micro, nonce, forSeconds })
    return { key, address, signed, task: take(signed) }
  }

  test('moves the AUSD to the treasury, once', async () => {
    const relayer = await stage.begin()
    const { address, task } = await signedTake()
    await stage.command(task)
    expect((await stage.finish(relayer, task)).state).toBe('settled')
    expect(await stage.balanceOf(address)).toBe(6_000_000n)
  })

  test('that somebody else submitted first counts as taken, with their transaction', async () => {
    const relayer = await stage.begin()
    const { task, signed } = await signedTake()
    const hash = await stage.submit(actorKeys.budi, contracts.ausd, transferData(signed))
    await stage.command(task)
    expect(await stage.finish(relayer, task)).toMatchObject({ state: 'settled', txHash: hash })
  })

  test('that somebody else submits while ours is in the pool counts as taken', async () => {
    const relayer = await stage.begin()
    const { address, task, signed } = await signedTake()
    await stage.command(task)
    stage.liar.interfere = (method, forward) =>
      method === 'eth_sendRawTransaction'
        ? stage.submit(actorKeys.budi, contracts.ausd, transferData(signed)).then(forward)
        : undefined
    await round(relayer)
    stage.liar.interfere = undefined
    const done = await stage.finish(relayer, task)
    expect(done).toMatchObject({ state: 'settled', tries: 1 })
    expect(await stage.balanceOf(address)).toBe(6_000_000n)
  })

  test('whose wallet is empty by then fails and sends nothing', async () => {
    const relayer = await stage.begin()
    const { key, address, task } = await signedTake()
    const away = encodeFunctionData({
      abi: ausdAbi,
      functionName: 'transfer',
      args: [stranger, 9_000_000n],
    })
    await stage.submit(key, contracts.ausd, away)
    await stage.command(task)
    const done = await stage.finish(relayer, task)
    expect(done).toMatchObject({ state: 'failed', reason: 'balance_too_low', nonce: null })
    expect(await stage.balanceOf(address)).toBe(1_000_000n)
  })

  test('whose authorization was cancelled fails', async () => {
    const relayer = await stage.begin()
    const { key, address, signed, task } = await signedTake()
    const account = privateKeyToAccount(key)
    const signature = await account.signTypedData({
      domain: contracts.domain,
      types: {
        CancelAuthorization: [
          { name: 'authorizer', type: 'address' },
          { name: 'nonce', type: 'bytes32' },
        ],
      },
      primaryType: 'CancelAuthorization',
      message: { authorizer: address, nonce: signed.nonce as Hex },
    })
    const cancel = encodeFunctionData({
      abi: ausdAbi,
      functionName: 'cancelAuthorization',
      args: [address, signed.nonce as Hex, signature],
    })
    await stage.submit(actorKeys.budi, contracts.ausd, cancel)
    await stage.command(task)
    const done = await stage.finish(relayer, task)
    expect(done).toMatchObject({ state: 'failed', reason: 'authorization_cancelled' })
  })

  test('whose window passed fails, but one that was used in time is found', async () => {
    const relayer = await stage.begin()
    const [late, used] = [await signedTake(1n, 2), await signedTake(1n, 2)]
    await stage.submit(actorKeys.budi, contracts.ausd, transferData(used.signed))
    await until(async () => {
      const { timestamp } = await chain.getBlock({ blockTag: 'finalized' })
      return timestamp > BigInt(used.signed.validBefore)
    }, 'the end of the window')
    for (const { task } of [late, used]) await stage.command(task)
    expect(await stage.finish(relayer, late.task)).toMatchObject({
      state: 'failed',
      reason: 'authorization_expired',
    })
    expect((await stage.finish(relayer, used.task)).state).toBe('settled')
  })

  test('security: a second payout out of the same authorization fails at once', async () => {
    const relayer = await stage.begin()
    const { signed, task } = await signedTake()
    const second = take({ ...signed, nonce: signed.nonce.toUpperCase().replace('0X', '0x') })
    await stage.command(task)
    await stage.command(second)
    expect((await stage.finish(relayer, task)).state).toBe('settled')
    expect(await stage.operationOf(second)).toMatchObject({
      state: 'failed',
      reason: 'authorization_conflict',
    })
  })

  test('security: a nonce used for another transfer is not a take', async () => {
    const relayer = await stage.begin()
    const { key, signed, task } = await signedTake()
    const { nonce } = signed
    const other = await stage.sign(key, { to: treasury, value: 1n, nonce: nonce as Hex })
    await stage.submit(actorKeys.budi, contracts.ausd, transferData(other))
    await stage.command(task)
    expect(await stage.finish(relayer, task)).toMatchObject({
      state: 'failed',
      reason: 'authorization_used_elsewhere',
    })
  })
})

describe('a take that no block takes in time', () => {
  test('gives its nonce away to a noop, and fails without having moved anything', async () => {
    const relayer = await stage.begin()
    const { key, address } = await newWallet(stage)
    const nonce = newNonce()
    const signed = await stage.sign(key, { to: treasury, value: 1n, nonce, forSeconds: 3 })
    const task = take(signed)
    await stage.command(task)
    stage.liar.interfere = (method) =>
      method === 'eth_sendRawTransaction'
        ? Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, result: nonce }))
        : undefined
    await round(relayer)
    stage.liar.interfere = undefined
    const later = { ...relayer, clock: () => Date.now() + 60_000 }
    await until(async () => {
      await renewStuck(later, await holdLanes(later))
      const [transaction] = (await holdLanes(later))[0]!.open
      return transaction?.attempts.some(({ purpose }) => purpose === 'noop')
    }, 'a noop')
    await until(async () => {
      const { timestamp } = await chain.getBlock({ blockTag: 'finalized' })
      return timestamp >= BigInt(signed.validBefore)
    }, 'the end of the window')
    const done = await stage.finish(relayer, task)
    expect(done).toMatchObject({ state: 'failed', reason: 'authorization_expired', tries: 1 })
    expect(await stage.balanceOf(address)).toBe(10_000_000n)
  })
})

describe('a return', () => {
  const giveBack = (wallet: string): Task & { kind: 'return' } => ({
    kind: 'return',
    payload: { payoutId: crypto.randomUUID(), wallet, ausd: '2000000' },
  })

  test('gives the AUSD back once; the token itself refuses a second time', async () => {
    const relayer = await stage.begin()
    const { address } = await newWallet(stage, 0n)
    const task = giveBack(address)
    await stage.command(task)
    await stage.command(task)
    expect((await stage.finish(relayer, task)).state).toBe('settled')
    expect(await stage.balanceOf(address)).toBe(2_000_000n)
    const state = await chain.readContract({
      address: contracts.ausd,
      abi: ausdAbi,
      functionName: 'authorizationState',
      args: [treasury, returnNonce(task.payload.payoutId)],
    })
    expect(state).toBe(true)
  })

  test('that a lost database already made is recognised, not made again', async () => {
    const relayer = await stage.begin()
    const { address } = await newWallet(stage, 0n)
    const task = giveBack(address)
    const nonce = returnNonce(task.payload.payoutId)
    const terms = { to: address, value: 2_000_000n, nonce }
    const signed = await stage.sign(actorKeys.treasury, terms)
    await stage.submit(actorKeys.budi, contracts.ausd, transferData(signed))
    await stage.command(task)
    expect((await stage.finish(relayer, task)).state).toBe('settled')
    expect(await stage.balanceOf(address)).toBe(2_000_000n)
  })
})
