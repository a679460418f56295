import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { concat, encodeAbiParameters, encodeDeployData, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { canonical } from '#shared/chain/given-authorization'
import * as questions from '#shared/messages/chain'
import type { Question } from '#shared/messages/topic'
import { trickWalletAbi, trickWalletBytecode } from '#test/support/contracts'
import { transferDigest } from '../chain/authorization'
import { newNonce, newOwnedWallet, newWallet, openFixture, recipient, take, until } from '../test-support'
import { answersOf } from './answers'
import { createSend } from './send'

const fixture = await openFixture()
afterAll(fixture.close)
afterEach(() => {
  fixture.endpoint.intercept = undefined
})
const { chain, context, contracts } = fixture
const treasury = fixture.treasury.address

const ask = (question: Question, request: object) =>
  answersOf(context)
    .find((one) => one.question === question)!
    .answer(request)

describe('a contract wallet', () => {
  test('cashes out by a signature that its own code accepts, and by no other', async () => {
    const context = await fixture.begin()
    const { account, wallet, wrap } = await newOwnedWallet(fixture)
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
    expect(await ask(questions.AuthorizationCheck, { authorization })).toHaveProperty('ok.free')
    const forged = { ...authorization, value: '3000001' }
    expect(await ask(questions.AuthorizationCheck, { authorization: forged })).toEqual({
      refused: 'signature_invalid',
    })
    const task = take(authorization)
    await fixture.command(task)
    expect((await fixture.finish(context, task)).state).toBe('settled')
    expect(await fixture.balanceOf(wallet)).toBe(7_000_000n)
  })

  /** Returns a wallet that accepts any signature when asked, and refuses it when used. */
  async function liar() {
    const { key } = await newWallet(fixture, 0n)
    const data = encodeDeployData({
      abi: trickWalletAbi,
      bytecode: trickWalletBytecode,
      args: [0, recipient],
    })
    const account = privateKeyToAccount(key)
    const hash = await chain.sendTransaction({ account, data, chain: null, gas: 1_000_000n })
    const receipt = await chain.waitForTransactionReceipt({ hash, pollingInterval: 50 })
    const wallet = receipt.contractAddress!
    await fixture.mint(wallet, 10_000_000n)
    const sign = (to: Hex = treasury, value = '1') => {
      const window = { validAfter: '0', validBefore: '4000000000' }
      const terms = { from: wallet, to, value, ...window, nonce: newNonce() }
      return { ...terms, signature: `0x${'00'.repeat(96)}` as Hex }
    }
    return { wallet, sign }
  }

  /** Returns such a wallet that also burns all gas it is given. */
  async function burner() {
    const made = await liar()
    // The wallet's code detects every simulation, so the endpoint reports success for it.
    fixture.endpoint.intercept = (method, _, params) =>
      method === 'eth_call' && (params[0] as { from?: string }).from === lane.toLowerCase()
        ? Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, result: '0x' }))
        : undefined
    return made
  }
  const lane = fixture.keys[0]!.address

  test('security: whose code passes a simulation and fails on the chain gets one try', async () => {
    const context = await fixture.begin()
    const { sign } = await burner()
    const task = take(sign())
    await fixture.command(task)
    const before = await chain.getTransactionCount({ address: lane })
    const ended = await fixture.finish(context, task)
    expect(ended).toMatchObject({ state: 'failed', reason: 'reverted' })
    expect(await chain.getTransactionCount({ address: lane })).toBe(before + 1)
  })

  test('security: whose code refuses what it accepted gets three tries a day', async () => {
    const context = await fixture.begin()
    const { sign } = await liar()
    const check = () => ask(questions.AuthorizationCheck, { authorization: sign(treasury, '9') })
    for (let tries = 1; tries <= 3; tries++) {
      expect(await check()).toHaveProperty('ok.free')
      const task = take(sign())
      await fixture.command(task)
      expect((await fixture.finish(context, task)).state).toBe('failed')
    }
    expect(await check()).toEqual({ refused: 'gas_budget_spent' })
  })

  test('security: burns only its daily gas budget, for any number of concurrent orders', async () => {
    const context = await fixture.begin({ gasBudgetWei: 1n })
    const { wallet, sign } = await burner()
    const tasks = [1, 2, 3, 4, 5].map(() => take(sign()))
    for (const task of tasks) await fixture.command(task)
    const before = await chain.getTransactionCount({ address: lane })
    const reasons = []
    for (const task of tasks) reasons.push((await fixture.finish(context, task)).reason)
    expect(await chain.getTransactionCount({ address: lane })).toBe(before + 1)
    const spent = 'gas_budget_spent'
    expect(reasons.toSorted()).toEqual([spent, spent, spent, spent, 'reverted'])
    fixture.endpoint.intercept = undefined
    // The budget is checked last, after every fault of the request.
    const check = (value: string) =>
      answersOf(context)
        .find((one) => one.question === questions.AuthorizationCheck)!
        .answer({ authorization: sign(treasury, value) })
    expect(await check('99000000')).toEqual({ refused: 'balance_too_low' })
    expect(await check('1')).toEqual({ refused: spent })
    const known = await context.account(wallet)
    const ask = { ...context, account: () => Promise.resolve({ ...known, verified: true }) }
    const send = (value: string) => createSend(ask, wallet, canonical(sign(recipient, value)))
    expect(await send('99000000')).toEqual({ refused: 'balance_too_low' })
    expect(await send('10000')).toEqual({ refused: spent })
    expect(
      await createSend({ ...ask, settings: fixture.context.settings }, wallet, canonical(sign(recipient, '10000'))),
    ).toHaveProperty('ok')
  })

  /** Wraps a signature as for a wallet that is not deployed yet (ERC-6492). */
  const for6492 = (signature: Hex): Hex =>
    concat([
      encodeAbiParameters(
        [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }],
        [recipient, '0xdeadbeef', signature],
      ),
      `0x${'6492'.repeat(16)}`,
    ])

  test('that is deployed may wrap its signatures by ERC-6492, to cash out and to sign in', async () => {
    const context = await fixture.begin()
    const { account, wallet, wrap } = await newOwnedWallet(fixture)
    const window = { validAfter: '0', validBefore: '4000000000', nonce: newNonce() }
    const terms = { from: wallet, to: treasury, value: '3000000', ...window }
    const own = wrap(await account.sign({ hash: transferDigest(contracts.domain, terms) }))
    const authorization = { ...terms, signature: for6492(own) }
    expect(await ask(questions.AuthorizationCheck, { authorization })).toHaveProperty('ok.free')
    const forged = { ...authorization, value: '3000001' }
    const refused = { refused: 'signature_invalid' }
    expect(await ask(questions.AuthorizationCheck, { authorization: forged })).toEqual(refused)
    const task = take(authorization)
    await fixture.command(task)
    expect((await fixture.finish(context, task)).state).toBe('settled')
    const text = 'Sign in to Service'
    const signature = for6492(wrap(await account.signMessage({ message: text })))
    const check = (of: string) => ask(questions.SignatureCheck, { wallet: of, text, signature })
    expect(await check(wallet)).toEqual({ ok: { valid: true } })
    expect(await check(recipient)).toEqual({ ok: { valid: false } })
  })

  test('security: 300 forged sign-ins take few chain calls, and a contract wallet still signs in', async () => {
    const { account, wallet, wrap } = await newOwnedWallet(fixture)
    // An invalid instruction uses up all gas of its call.
    const deployed = {
      account,
      data: '0x60fe60005360016000f3',
      chain: null,
      gas: 100_000n,
    } as const
    const hash = await chain.sendTransaction(deployed)
    const receipt = await chain.waitForTransactionReceipt({ hash, pollingInterval: 50 })
    const calls: string[] = []
    fixture.endpoint.intercept = (method) => void calls.push(method)
    const answers = answersOf(context)
    const text = 'Sign in to Service'
    const check = (of: string, signature: Hex) =>
      answers.find(({ question }) => question === questions.SignatureCheck)!.answer({ wallet: of, text, signature })
    const late = { refused: 'chain_unavailable' }
    const forged = `0x${'11'.repeat(64)}1b` as Hex
    const strangers = Array.from({ length: 300 }, () => newNonce().slice(0, 42))
    const startedAt = Date.now()
    const flood = Promise.all(strangers.map((one) => check(one, forged)))
    const burning = check(receipt.contractAddress!, forged)
    const refused = { ok: { valid: false } }
    const others = (await flood).filter((answer) => !Bun.deepEquals(answer, late))
    expect(others.length).toBeGreaterThan(40)
    for (const answer of others) expect(answer).toEqual(refused)
    expect([refused, late] as unknown[]).toContainEqual(await burning)
    const own = wrap(await account.signMessage({ message: text }))
    await until(
      async () => Bun.deepEquals(await check(wallet, own), { ok: { valid: true } }),
      'the sign-in of a contract wallet',
    )
    expect(new Set(calls)).toEqual(new Set(['eth_call']))
    expect(calls.length).toBeLessThanOrEqual(2 + (Date.now() - startedAt) / 500)
    const before = calls.length
    for (const one of strangers.slice(0, 40)) expect(await check(one, forged)).toEqual(refused)
    expect(calls).toHaveLength(before)
  })

  test.each(['cash-outs', 'sends'])(
    'security: forged %s of 40 wallets that anybody can make take few chain calls',
    async (kind) => {
      const calls: string[] = []
      fixture.endpoint.intercept = (method) => void calls.push(method)
      const forged = `0x${'11'.repeat(64)}1b` as Hex
      const startedAt = Date.now()
      const ask = async () => {
        const from = newNonce().slice(0, 42) as Hex
        const terms = { from, to: treasury, value: '1000000', validAfter: '0' }
        const authorization = {
          ...terms,
          validBefore: '4000000000',
          nonce: newNonce(),
          signature: forged,
        }
        if (kind === 'cash-outs')
          return answersOf(context)
            .find(({ question }) => question === questions.AuthorizationCheck)!
            .answer({ authorization })
        return createSend(context, from, canonical({ ...authorization, to: recipient }))
      }
      for (const answer of await Promise.all(Array.from({ length: 40 }, ask)))
        expect(['signature_invalid', 'not_verified']).toContain((answer as { refused: string }).refused)
      const elsewhere = calls.filter((method) => method !== 'eth_call')
      expect(elsewhere).toEqual([])
      expect(calls.length).toBeLessThanOrEqual(20 + (Date.now() - startedAt) / 50)
    },
  )

  test('signs in by its own code; an account without code never does', async () => {
    const { account, wallet, wrap } = await newOwnedWallet(fixture)
    const text = 'Sign in to Service'
    const signature = wrap(await account.signMessage({ message: text }))
    const check = (asked: string) => ask(questions.SignatureCheck, { wallet: asked, text, signature })
    expect(await check(wallet)).toEqual({ ok: { valid: true } })
    expect(await check(recipient)).toEqual({ ok: { valid: false } })
  })
})
