import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { type Hex, parseSignature, serializeCompactSignature, signatureToCompactSignature } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { schemaReader } from '#platform/schema'
import { canonical } from '#shared/chain/given-authorization'
import * as questions from '#shared/messages/chain'
import type { Question } from '#shared/messages/topic'
import { actorKeys, actors } from '#test/support/contracts'
import { transferDigest } from '../chain/authorization'
import type { Task } from '../operations/operation'
import { freeze, newNonce, newWallet, openFixture, recipient, transferData, verify } from '../test-support'
import { answersOf } from './answers'
import { createSend } from './send'

const fixture = await openFixture()
afterAll(fixture.close)
afterEach(() => {
  fixture.endpoint.intercept = undefined
})
const { context, contracts } = fixture
const treasury = fixture.treasury.address

const ask = (question: Question, request: object) =>
  answersOf(context)
    .find((one) => one.question === question)!
    .answer(request)

describe('a request for a send', () => {
  const verifiedWallet = async () => {
    const context = await fixture.begin()
    const wallet = await newWallet(fixture)
    const task = verify(wallet.address, true, 1n)
    await fixture.command(task)
    await fixture.finish(context, task)
    return { ...wallet, context }
  }

  test('is relayed once, has the same response each time, and is in the activity', async () => {
    const { context, key, address } = await verifiedWallet()
    const signed = await fixture.sign(key, { to: recipient, value: 50_000n, nonce: newNonce() })
    const answer = await createSend(context, address, canonical(signed))
    expect(answer).toMatchObject({ ok: { ausd: '50000', to: recipient.toLowerCase() } })
    const shown = () => ask(questions.ChainActivity, { wallet: address, limit: 10 })
    expect(await shown()).toMatchObject({
      ok: { inFlight: [{ status: 'sending', ausd: '50000' }] },
    })
    const { sendId } = (answer as { ok: { sendId: string } }).ok
    const item = (wallet: string, id = sendId) => ask(questions.ChainItem, { wallet, id })
    expect(await item(address)).toMatchObject({ ok: { item: { id: sendId, status: 'sending' } } })
    for (const other of [item(recipient), item(address, 'snd_none')])
      expect(await other).toEqual({ ok: { item: null } })
    const task: Task = { kind: 'send', payload: { sendId, authorization: canonical(signed) } }
    const done = await fixture.finish(context, task)
    expect(await createSend(context, address, canonical(signed))).toEqual(answer)
    expect(await fixture.balanceOf(recipient)).toBeGreaterThanOrEqual(50_000n)
    expect(await shown()).toMatchObject({
      ok: { inFlight: [], items: [{ id: sendId, status: 'sent', txHash: done.txHash }] },
    })
  })

  test('repeated while it is delayed until the first is final has the response of the first', async () => {
    const { context, key, address } = await verifiedWallet()
    const signed = canonical(await fixture.sign(key, { to: recipient, value: 50_000n, nonce: newNonce() }))
    const isHeld = Promise.withResolvers<void>()
    const first = Promise.withResolvers<void>()
    // The turn begins after the search for an earlier send, which has a deadline.
    const readTurn = async () => {
      isHeld.resolve()
      await first.promise
      return context.readTurn()
    }
    const held = createSend({ ...context, readTurn: readTurn }, address, signed)
    await isHeld.promise
    const answer = await createSend(context, address, signed)
    const { sendId } = (answer as { ok: { sendId: string } }).ok
    await fixture.finish(context, { kind: 'send', payload: { sendId, authorization: signed } })
    first.resolve()
    expect(await held).toEqual(answer)
  })

  test('counts its gas against the daily budget of its wallet, although it succeeds', async () => {
    const { context, key, address } = await verifiedWallet()
    const poor = { ...context, settings: { ...context.settings, gasBudgetWei: 1n } }
    const signs = async () => canonical(await fixture.sign(key, { to: recipient, value: 50_000n, nonce: newNonce() }))
    const first = await signs()
    const answer = await createSend(poor, address, first)
    const { sendId } = (answer as { ok: { sendId: string } }).ok
    await fixture.finish(poor, { kind: 'send', payload: { sendId, authorization: first } })
    const second = await signs()
    expect(await createSend(poor, address, second)).toEqual({ refused: 'gas_budget_spent' })
    expect(await createSend(poor, address, first)).toEqual(answer)
  })

  // guard: a nonce of a wallet is one send
  test('of the same nonce with other content is a conflict', async () => {
    const { key, address } = await verifiedWallet()
    const nonce = newNonce()
    const first = await fixture.sign(key, { to: recipient, value: 50_000n, nonce })
    const other = await fixture.sign(key, { to: recipient, value: 60_000n, nonce })
    await createSend(context, address, canonical(first))
    expect(await createSend(context, address, canonical(other))).toEqual({
      refused: 'authorization_conflict',
    })
  })

  test('for more than the balance less the sends in flight is refused', async () => {
    const { key, address } = await verifiedWallet()
    const signs = (value: bigint) => fixture.sign(key, { to: recipient, value, nonce: newNonce() })
    await createSend(context, address, canonical(await signs(6_000_000n)))
    const second = canonical(await signs(6_000_000n))
    expect(await createSend(context, address, second)).toEqual({ refused: 'balance_too_low' })
  })

  test('for the whole remaining balance is accepted before mined sends are final', async () => {
    const { key, address } = await verifiedWallet()
    const signs = async (value: bigint) =>
      canonical(await fixture.sign(key, { to: recipient, value, nonce: newNonce() }))
    const first = await signs(6_000_000n)
    await createSend(context, address, first)
    // In our database the amount still has to leave the wallet.
    await fixture.submit(actorKeys.admin, contracts.ausd, transferData(first))
    const rest = await createSend(context, address, await signs(4_000_000n))
    expect(rest).toMatchObject({ ok: { ausd: '4000000' } })
    const more = await createSend(context, address, await signs(10_000n))
    expect(more).toEqual({ refused: 'balance_too_low' })
  })

  // guard: sends of a wallet check its AUSD one at a time
  test('and a concurrent one cannot both use the same AUSD', async () => {
    const { key, address } = await verifiedWallet()
    const send = async () => {
      const terms = { to: recipient, value: 6_000_000n, nonce: newNonce() }
      return createSend(context, address, canonical(await fixture.sign(key, terms)))
    }
    const answers = await Promise.all([send(), send(), send()])
    expect(answers.filter((answer) => 'ok' in answer)).toHaveLength(1)
  })

  test('sent twice concurrently, among others, is one send', async () => {
    const { key, address } = await verifiedWallet()
    const signs = async () =>
      canonical(await fixture.sign(key, { to: recipient, value: 2_000_000n, nonce: newNonce() }))
    const [twice, other] = [await signs(), await signs()]
    const asked = [twice, other, twice].map((signed) => createSend(context, address, signed))
    const [first, second, third] = await Promise.all(asked)
    expect(first).toMatchObject({ ok: { ausd: '2000000' } })
    expect(third).toEqual(first)
    expect(second).not.toEqual(first)
    const { ok } = (await ask(questions.ChainActivity, { wallet: address, limit: 10 })) as {
      ok: { inFlight: unknown[] }
    }
    expect(ok.inFlight).toHaveLength(2)
  })

  test('is not refused for the take of a cash-out that is stored during its balance read', async () => {
    const { context, key, address } = await verifiedWallet()
    const sign = (value: bigint) => fixture.sign(key, { to: treasury, value, nonce: newNonce() })
    const [before, asked] = [await sign(4_000_000n), await sign(1_000_000n)]
    const payload = { payoutId: crypto.randomUUID(), wallet: address, authorization: before }
    let stored: Promise<unknown> | undefined
    fixture.endpoint.intercept = (method, forward) => {
      if (method !== 'eth_call') return undefined
      stored ??= fixture.command({ kind: 'take', payload } as Task)
      return stored.then(forward)
    }
    const held = await fixture.balanceOf(address)
    const checked = await answersOf(context)
      .find((one) => one.question === questions.AuthorizationCheck)!
      .answer({ authorization: asked })
    const { free, counted } = (checked as { ok: { free: string; counted: string[] } }).ok
    expect({ free, counted }).toEqual({
      free: String(held - 4_000_000n),
      counted: [before.nonce],
    })
  })

  // guard: a frozen wallet neither sends nor cashes out
  test('of a frozen wallet is refused, and so is its cash-out, until the wallet is unfrozen', async () => {
    const { context, key, address } = await verifiedWallet()
    const decide = async (frozen: boolean, revision: bigint) => {
      await fixture.command(freeze(address, frozen, revision))
      await fixture.finish(context, freeze(address, frozen, revision))
    }
    // The freeze precedes every other refusal.
    const sign = (value: bigint, to = treasury) => fixture.sign(key, { to, value, nonce: newNonce() })
    const sent = (value: bigint) => sign(value, recipient)
    const [much, little] = [await sign(99_000_000n), await sign(50_000n)]
    const forged = { ...little, value: '60000' }
    await decide(true, 1n)
    const check = (authorization: object) => ask(questions.AuthorizationCheck, { authorization })
    for (const signed of [much, little]) expect(await check(signed)).toEqual({ refused: 'wallet_frozen' })
    for (const signed of [await sent(99_000_000n), await sent(50_000n)])
      expect(await createSend(context, address, canonical(signed))).toEqual({
        refused: 'wallet_frozen',
      })
    expect(await check(forged)).toEqual({ refused: 'signature_invalid' })
    await decide(false, 2n)
    expect(await check(little)).toHaveProperty('ok.free')
    expect(await check(much)).toEqual({ refused: 'balance_too_low' })
    expect(await createSend(context, address, canonical(await sent(50_000n)))).toMatchObject({
      ok: { ausd: '50000' },
    })
  })

  // guard: an unverified wallet sends nothing
  test('of an unverified wallet is refused', async () => {
    const { key, address } = await newWallet(fixture)
    const signed = await fixture.sign(key, { to: recipient, value: 50_000n, nonce: newNonce() })
    const answer = await createSend(context, address, canonical(signed))
    expect(answer).toEqual({ refused: 'not_verified' })
  })

  test('signed with v 0 or 1 settles alone and in a bundle, as the same send as with 27 or 28', async () => {
    const { context, key, address } = await verifiedWallet()
    const sign = async () => {
      const terms = { to: recipient, value: 50_000n, nonce: newNonce() }
      const signed = canonical(await fixture.sign(key, terms))
      const bare = signed.signature.endsWith('1b') ? '00' : '01'
      return { signed, bare: { ...signed, signature: `${signed.signature.slice(0, -2)}${bare}` } }
    }
    for (const count of [1, 3]) {
      const sends = await Promise.all(Array.from({ length: count }, sign))
      for (const { signed, bare } of sends) {
        const answer = await createSend(context, address, bare as typeof signed)
        expect(answer).toMatchObject({ ok: { ausd: '50000' } })
        expect(await createSend(context, address, signed)).toEqual(answer)
      }
      for (const { signed } of sends) {
        const { ok } = (await createSend(context, address, signed)) as { ok: { sendId: string } }
        const payload = { sendId: ok.sendId, authorization: signed }
        const done = await fixture.finish(context, { kind: 'send', payload })
        expect(done.state).toBe('settled')
      }
    }
  })

  test('that never expires is accepted and settled', async () => {
    const { context, key, address } = await verifiedWallet()
    const terms = { to: recipient, value: 50_000n, nonce: newNonce() }
    const validBefore = String(2n ** 256n - 1n)
    const unsigned = { ...(await fixture.sign(key, terms)), validBefore }
    const hash = transferDigest(contracts.domain, unsigned)
    const signature = await privateKeyToAccount(key).sign({ hash })
    const read = schemaReader(questions.SendCreate.request)
    const request = read({ wallet: address, authorization: { ...unsigned, signature } })
    expect(request).not.toHaveProperty('fault')
    const signed = canonical((request as { value: { authorization: typeof unsigned } }).value.authorization)
    const answer = await createSend(context, address, signed)
    const { sendId } = (answer as { ok: { sendId: string } }).ok
    const task: Task = { kind: 'send', payload: { sendId, authorization: signed } }
    expect((await fixture.finish(context, task)).state).toBe('settled')
    const above = { ...unsigned, signature, validBefore: String(2n ** 256n) }
    expect(read({ wallet: address, authorization: above })).toHaveProperty('fault')
  })

  test('of a wallet that has not accepted the current terms is refused, but its repeat gets the first response', async () => {
    const context = await fixture.begin()
    const { key, address } = await verifiedWallet()
    const signed = canonical(await fixture.sign(key, { to: recipient, value: 50_000n, nonce: newNonce() }))
    const termsMissing = true
    expect(await createSend(context, address, signed, { termsMissing })).toEqual({ refused: 'terms_not_accepted' })
    const accepted = await createSend(context, address, signed)
    expect(accepted).toHaveProperty('ok.sendId')
    expect(await createSend(context, address, signed, { termsMissing })).toEqual(accepted)
  })

  test('signed with the 64 bytes of EIP-2098 is accepted and settles, and with the other parity refused', async () => {
    const context = await fixture.begin()
    const { key, address } = await verifiedWallet()
    const given = await fixture.sign(key, { to: recipient, value: 50_000n, nonce: newNonce() })
    const short = serializeCompactSignature(signatureToCompactSignature(parseSignature(given.signature)))
    const read = schemaReader(questions.SendCreate.request)
    const request = read({ wallet: address, authorization: { ...given, signature: short } })
    expect(request).not.toHaveProperty('fault')
    const signed = canonical({ ...given, signature: short })
    const otherParity = (BigInt(`0x${short.slice(66)}`) ^ (1n << 255n)).toString(16).padStart(64, '0')
    const wrong = { ...signed, signature: `${short.slice(0, 66) as Hex}${otherParity}` as const }
    expect(await createSend(context, address, wrong)).toEqual({ refused: 'signature_invalid' })
    const answer = await createSend(context, address, signed)
    const { sendId } = (answer as { ok: { sendId: string } }).ok
    const task: Task = { kind: 'send', payload: { sendId, authorization: signed } }
    expect((await fixture.finish(context, task)).state).toBe('settled')
  })

  // guard: a send is signed by its wallet
  test('security: signed by another key, or mirrored to a high s, is refused', async () => {
    const { key, address } = await verifiedWallet()
    const signed = await fixture.sign(key, { to: recipient, value: 50_000n, nonce: newNonce() })
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
    const s = order - BigInt(`0x${signed.signature.slice(66, 130)}`)
    const v = signed.signature.endsWith('1b') ? '1c' : '1b'
    const mirrored = `${signed.signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}${v}`
    const bare = `${mirrored.slice(0, -2)}${v === '1b' ? '00' : '01'}`
    for (const signature of [mirrored, bare, `0x${'11'.repeat(64)}1b`, `0x${'11'.repeat(64)}00`])
      expect(await createSend(context, address, canonical({ ...signed, signature }))).toEqual({
        refused: 'signature_invalid',
      })
  })
})

describe('the account of a wallet', () => {
  const account = (wallet: string) => ask(questions.ChainAccount, { wallet })

  test('is read at one block, by one call for concurrent requests', async () => {
    let calls = 0
    fixture.endpoint.intercept = (method) => {
      if (method === 'eth_call') calls++
      return undefined
    }
    const wallets = [actors.ana.address, actors.ana.address, actors.budi.address]
    const answers = await Promise.all(wallets.map(account))
    expect(answers[0]).toMatchObject({
      ok: {
        verified: false,
        frozen: false,
        drawn: '0',
        collateral: { pendingUntil: null },
        encumbered: '0',
        encumberedUntil: null,
        available: '0',
      },
    })
    expect(calls).toBe(1)
  })

  test('is never older than in an earlier answer', async () => {
    const { address } = await newWallet(fixture, 1_000_000n)
    const balance = async () => ((await account(address)) as { ok: { balance: { ausd: string } } }).ok.balance.ausd
    const replies: string[] = []
    const recorded = async (forward: () => Promise<Response>) => {
      const text = await (await forward()).text()
      replies.push(text)
      return new Response(text)
    }
    fixture.endpoint.intercept = (method, forward) => (method === 'eth_call' ? recorded(forward) : undefined)
    expect(await balance()).toBe('1000000')
    await fixture.mint(address, 1_000_000n)
    expect(await balance()).toBe('2000000')
    let older = 2
    fixture.endpoint.intercept = (method) =>
      method === 'eth_call' && older-- > 0 ? Promise.resolve(new Response(replies[0])) : undefined
    expect(await balance()).toBe('2000000')
    older = 100
    expect(await account(address)).toEqual({ refused: 'chain_unavailable' })
    fixture.endpoint.intercept = undefined
  })

  test('is refused, not failed, while the chain cannot be read', async () => {
    fixture.endpoint.intercept = async () => new Response('', { status: 503 })
    const answer = await account(actors.citra.address)
    fixture.endpoint.intercept = undefined
    expect(answer).toEqual({ refused: 'chain_unavailable' })
  })
})
