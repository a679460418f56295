import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { encodeAbiParameters, encodeDeployData, type Hex, keccak256, toBytes } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { ownedWalletAbi, ownedWalletBytecode } from '#infra/contracts/artifacts.gen'
import { pause } from '#shared/deadline'
import * as questions from '#shared/messages/chain'
import type { Question } from '#shared/messages/topic'
import { readAnswers } from './account.responder'
import { activityAnswers } from './activity.responder'
import { assignWaiting } from './assign'
import { transferDigest } from './authorization'
import { holdLanes } from './lanes'
import type { Task } from './operation'
import { canonical } from './order'
import { openStage } from './rig/stage'
import { freeze, newNonce, newWallet, stranger, take, verify } from './rig/wallets'
import { round } from './rounds'
import { createSend } from './send.responder'

const stage = await openStage()
afterAll(stage.close)
afterEach(() => {
  stage.liar.interfere = undefined
})
const { chain, contracts, desk } = stage
const treasury = stage.treasury.address

const ask = (question: Question, request: object) =>
  [...readAnswers(desk), ...activityAnswers(desk)]
    .find((one) => one.question === question)!
    .answer(request)

describe('a drip', () => {
  const drip = (wallet: string): Task & { kind: 'drip' } => ({ kind: 'drip', payload: { wallet } })

  test('comes once per wallet for ever, however it is spelled', async () => {
    const relayer = await stage.begin()
    const { address } = privateKeyToAccount(generatePrivateKey())
    await stage.command(drip(address))
    expect((await stage.finish(relayer, drip(address))).state).toBe('settled')
    await stage.command(drip(address.toLowerCase()))
    await round(relayer)
    await pause(300)
    await round(relayer)
    expect(await chain.getBalance({ address })).toBe(relayer.settings.dripWei)
  })

  test('to a wallet with enough is done without a transaction', async () => {
    const relayer = await stage.begin()
    const { address } = await newWallet(stage, 0n)
    await stage.command(drip(address))
    const done = await stage.finish(relayer, drip(address))
    expect(done).toMatchObject({ state: 'settled', txHash: null, nonce: null })
  })

  test('waits while the lane would fall below its floor', async () => {
    const relayer = await stage.begin({ laneFloorWei: 10n ** 30n })
    const { address } = privateKeyToAccount(generatePrivateKey())
    await stage.command(drip(address))
    await round(relayer)
    expect((await stage.operationOf(drip(address))).state).toBe('waiting')
  })
})

describe('verdicts on one wallet', () => {
  test('to freeze it that come in the wrong order end with the newest', async () => {
    const relayer = await stage.begin()
    const { address } = await newWallet(stage, 0n)
    const [newer, older] = [freeze(address, false, 9n), freeze(address, true, 5n)]
    for (const task of [newer, older]) await stage.command(task)
    expect((await stage.finish(relayer, newer)).state).toBe('settled')
    expect(await stage.finish(relayer, older)).toMatchObject({ state: 'settled', txHash: null })
    expect((await stage.lineOf(address)).frozen).toBe(false)
  })

  test('to freeze it wait for each other, however many lanes there are', async () => {
    const relayer = await stage.begin()
    const { address } = await newWallet(stage, 0n)
    const [first, second] = [freeze(address, true, 1n), freeze(address, false, 2n)]
    await stage.command(first)
    await assignWaiting(relayer, await holdLanes(relayer))
    await stage.command(second)
    await assignWaiting(relayer, await holdLanes(relayer))
    expect((await stage.operationOf(second)).state).toBe('waiting')
    await stage.finish(relayer, second)
    expect((await stage.lineOf(address)).frozen).toBe(false)
  })

  test('to freeze and to verify it are counted apart', async () => {
    const relayer = await stage.begin()
    const { address } = await newWallet(stage, 0n)
    const tasks = [verify(address, true, 9n), freeze(address, true, 5n)]
    for (const task of tasks) await stage.command(task)
    for (const task of tasks) await stage.finish(relayer, task)
    expect(await stage.lineOf(address)).toMatchObject({ verified: true, frozen: true })
  })

  test('that come in the wrong order end with the newest', async () => {
    const relayer = await stage.begin()
    const { address } = await newWallet(stage, 0n)
    const [newer, older] = [verify(address, false, 9n), verify(address, true, 5n)]
    await stage.command(newer)
    await stage.command(older)
    expect((await stage.finish(relayer, newer)).state).toBe('settled')
    expect(await stage.finish(relayer, older)).toMatchObject({ state: 'settled', txHash: null })
    expect((await stage.lineOf(address)).verified).toBe(false)
  })
})

describe('a send', () => {
  const verifiedWallet = async () => {
    const relayer = await stage.begin()
    const wallet = await newWallet(stage)
    const task = verify(wallet.address, true, 1n)
    await stage.command(task)
    await stage.finish(relayer, task)
    return { ...wallet, relayer }
  }

  test('is relayed once, answered alike each time, and shown in the activity', async () => {
    const { relayer, key, address } = await verifiedWallet()
    const signed = await stage.sign(key, { to: stranger, value: 5n, nonce: newNonce() })
    const answer = await createSend(desk, address, canonical(signed))
    expect(answer).toMatchObject({ ok: { ausd: '5', to: stranger.toLowerCase() } })
    const shown = () => ask(questions.ChainActivity, { wallet: address, limit: 10 })
    expect(await shown()).toMatchObject({ ok: { inFlight: [{ status: 'sending', ausd: '5' }] } })
    const { sendId } = (answer as { ok: { sendId: string } }).ok
    const task: Task = { kind: 'send', payload: { sendId, authorization: canonical(signed) } }
    const done = await stage.finish(relayer, task)
    expect(await createSend(desk, address, canonical(signed))).toEqual(answer)
    expect(await stage.balanceOf(stranger)).toBeGreaterThanOrEqual(5n)
    expect(await shown()).toMatchObject({
      ok: { inFlight: [], items: [{ id: sendId, status: 'sent', txHash: done.txHash }] },
    })
  })

  test('of the same nonce with other content is a conflict', async () => {
    const { key, address } = await verifiedWallet()
    const nonce = newNonce()
    const first = await stage.sign(key, { to: stranger, value: 5n, nonce })
    const other = await stage.sign(key, { to: stranger, value: 6n, nonce })
    await createSend(desk, address, canonical(first))
    expect(await createSend(desk, address, canonical(other))).toEqual({
      refused: 'authorization_conflict',
    })
  })

  test('of more than what is left after those in flight is refused', async () => {
    const { key, address } = await verifiedWallet()
    const signs = (value: bigint) => stage.sign(key, { to: stranger, value, nonce: newNonce() })
    await createSend(desk, address, canonical(await signs(6_000_000n)))
    const second = canonical(await signs(6_000_000n))
    expect(await createSend(desk, address, second)).toEqual({ refused: 'balance_too_low' })
  })

  test('and another at the same moment cannot both count on the same AUSD', async () => {
    const { key, address } = await verifiedWallet()
    const send = async () => {
      const terms = { to: stranger, value: 6_000_000n, nonce: newNonce() }
      return createSend(desk, address, canonical(await stage.sign(key, terms)))
    }
    const answers = await Promise.all([send(), send(), send()])
    expect(answers.filter((answer) => 'ok' in answer)).toHaveLength(1)
  })

  test('of a frozen wallet is refused, and so is its cash-out, until it is frozen no more', async () => {
    const { relayer, key, address } = await verifiedWallet()
    const decide = async (frozen: boolean, revision: bigint) => {
      await stage.command(freeze(address, frozen, revision))
      await stage.finish(relayer, freeze(address, frozen, revision))
    }
    // More than it holds: that it is frozen is told first.
    const sign = (value: bigint) => stage.sign(key, { to: treasury, value, nonce: newNonce() })
    const [much, little] = [await sign(99_000_000n), await sign(5n)]
    const forged = { ...little, value: '6' }
    await decide(true, 1n)
    const check = (authorization: object) => ask(questions.AuthorizationCheck, { authorization })
    for (const signed of [much, little]) {
      expect(await createSend(desk, address, canonical(signed))).toEqual({
        refused: 'wallet_frozen',
      })
      expect(await check(signed)).toEqual({ refused: 'wallet_frozen' })
    }
    expect(await check(forged)).toEqual({ refused: 'signature_invalid' })
    await decide(false, 2n)
    expect(await check(little)).toEqual({ ok: {} })
    expect(await check(much)).toEqual({ refused: 'balance_too_low' })
    expect(await createSend(desk, address, canonical(little))).toMatchObject({ ok: { ausd: '5' } })
  })

  test('of an unverified wallet is refused', async () => {
    const { key, address } = await newWallet(stage)
    const signed = await stage.sign(key, { to: stranger, value: 5n, nonce: newNonce() })
    const answer = await createSend(desk, address, canonical(signed))
    expect(answer).toEqual({ refused: 'not_verified' })
  })

  test('security: signed by another key, or mirrored to a high s, is refused', async () => {
    const { key, address } = await verifiedWallet()
    const signed = await stage.sign(key, { to: stranger, value: 5n, nonce: newNonce() })
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
    const s = order - BigInt(`0x${signed.signature.slice(66, 130)}`)
    const v = signed.signature.endsWith('1b') ? '1c' : '1b'
    const mirrored = `${signed.signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}${v}`
    for (const signature of [mirrored, `0x${'11'.repeat(64)}1b`])
      expect(await createSend(desk, address, canonical({ ...signed, signature }))).toEqual({
        refused: 'signature_invalid',
      })
  })
})

describe('a contract wallet', () => {
  const ownedWallet = async () => {
    const { key, address: owner } = await newWallet(stage, 0n)
    const data = encodeDeployData({
      abi: ownedWalletAbi,
      bytecode: ownedWalletBytecode,
      args: [owner],
    })
    const account = privateKeyToAccount(key)
    const hash = await chain.sendTransaction({ account, data, chain: null, gas: 1_000_000n })
    const receipt = await chain.waitForTransactionReceipt({ hash, pollingInterval: 50 })
    const wallet = receipt.contractAddress!
    await stage.mint(wallet, 10_000_000n)
    const wrap = (signature: Hex) =>
      encodeAbiParameters(
        [{ type: 'bytes32' }, { type: 'bytes' }],
        [keccak256(toBytes('OwnedWallet')), signature],
      )
    return { account, wallet, wrap }
  }

  test('cashes out by a signature its own code accepts, and by no other', async () => {
    const relayer = await stage.begin()
    const { account, wallet, wrap } = await ownedWallet()
    const terms = {
      from: wallet,
      to: treasury,
      value: '3000000',
      validAfter: '0',
      validBefore: '4000000000',
      nonce: newNonce(),
    }
    const signature = wrap(await account.sign({ hash: transferDigest(contracts.domain, terms) }))
    const authorization = { ...terms, signature }
    expect(await ask(questions.AuthorizationCheck, { authorization })).toEqual({ ok: {} })
    const forged = { ...authorization, value: '3000001' }
    expect(await ask(questions.AuthorizationCheck, { authorization: forged })).toEqual({
      refused: 'signature_invalid',
    })
    const task = take(authorization)
    await stage.command(task)
    expect((await stage.finish(relayer, task)).state).toBe('settled')
    expect(await stage.balanceOf(wallet)).toBe(7_000_000n)
  })

  test('signs in by its own code; an account without code never does', async () => {
    const { account, wallet, wrap } = await ownedWallet()
    const text = 'Sign in to Service'
    const signature = wrap(await account.signMessage({ message: text }))
    const check = (asked: string) =>
      ask(questions.SignatureCheck, { wallet: asked, text, signature })
    expect(await check(wallet)).toEqual({ ok: { valid: true } })
    expect(await check(stranger)).toEqual({ ok: { valid: false } })
  })
})
