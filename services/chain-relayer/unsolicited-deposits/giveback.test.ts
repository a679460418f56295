import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { and, eq, sql } from 'drizzle-orm'
import { encodeFunctionData, type Hex } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { openRpcEndpoints } from '#shared/chain/endpoints'
import { actorKeys, actors } from '#test/support/contracts'
import { nameOf } from '../chain/authorization'
import { openNode } from '../chain/node'
import type { Context } from '../context'
import { signedAmounts } from '../keys/signed-amounts.store'
import { operations } from '../operations/operation.table'
import { relayOnce } from '../relay-loop'
import { listening, newNonce, newRefId, newWallet, openFixture, transferData, until } from '../test-support'
import { givebackNonce } from './arrival'
import { answerGivebacks, takeUpRequests } from './giveback'
import { requests } from './request.store'
import { givebacksOf } from './test-support'

const fixture = await openFixture(2)
afterAll(fixture.close)
afterEach(() => {
  fixture.endpoint.intercept = undefined
})
const { chain, contracts, database } = fixture
const givebacks = givebacksOf(fixture)
const { treasury, arrivalsIn, sentBySomebody, sentByItself } = givebacks
const { ask, requestOf, decided, operationFor, finished, linesOf } = givebacks

describe('unsolicited AUSD', () => {
  test.each([
    ['by a signature that a third party submitted', sentBySomebody],
    ['by a plain transfer', sentByItself],
  ])('sent %s is returned once to its sender, and is in the books', async (_, send) => {
    const context = await fixture.begin()
    const { address, name } = await send()
    await ask(name)
    expect(await decided(context, name)).toMatchObject({ state: 'ordered', refusal: null })
    expect(await linesOf(name)).toEqual([])
    expect(await finished(context, name)).toMatchObject({ wallet: address.toLowerCase() })
    expect(await fixture.balanceOf(address)).toBe(10_000_000n)
    expect(await linesOf(name)).toEqual([
      ['suspense', 'AUSD', 4_000_000n],
      ['treasury', 'AUSD', -4_000_000n],
    ])
    const isUsed = await chain.readContract({
      address: contracts.ausd,
      abi: ausdAbi,
      functionName: 'authorizationState',
      args: [treasury, givebackNonce(nameOf(name))],
    })
    expect(isUsed).toBe(true)
  })

  test('counts as given to its sender once it is final, and as an unknown sum if no final block has it', async () => {
    const { worth } = answerGivebacks(await fixture.begin())
    const { address, name } = await sentBySomebody()
    await until(async () => (await worth!(name as never))?.micro !== null, 'the final block')
    expect(await worth!(name as never)).toEqual({ micro: 4_000_000n, to: address.toLowerCase(), seen: '' })
    const unknown = { ...name, txHash: `0x${'1'.repeat(64)}` as const }
    expect(await worth!(unknown as never)).toMatchObject({ micro: null })
  })

  test('is returned although the preferred endpoint omits the logs of its receipt', async () => {
    const { address, name } = await sentBySomebody()
    fixture.endpoint.intercept = (method, forward) => {
      if (method !== 'eth_getTransactionReceipt') return undefined
      return forward().then(async (reply) => {
        const answer = (await reply.json()) as { result: object | null }
        return Response.json({ ...answer, result: answer.result && { ...answer.result, logs: [] } })
      })
    }
    const endpoints = openRpcEndpoints({ rpcUrls: [fixture.endpoint.url, fixture.rpcUrl] })
    const context = { ...(await fixture.begin()), node: openNode({ endpoints, chainId: 10143 }) }
    await ask(name)
    expect(await decided(context, name)).toMatchObject({ state: 'ordered', refusal: null })
    expect(await finished(context, name)).toMatchObject({ wallet: address.toLowerCase() })
    expect(await fixture.balanceOf(address)).toBe(10_000_000n)
  })

  test('is returned once when several instances decide concurrently', async () => {
    const copies = [await fixture.begin(), await fixture.begin(), await fixture.begin()]
    const { address, name } = await sentBySomebody()
    await ask(name)
    await Promise.all(copies.map((context) => decided(context, name)))
    await until(async () => {
      await Promise.all(copies.map(relayOnce))
      return (await operationFor(name))?.state === 'settled'
    }, 'the giveback')
    expect(await fixture.balanceOf(address)).toBe(10_000_000n)
    expect(await linesOf(name)).toHaveLength(2)
  })

  test('is requested once: a second request fails until the first has a result', async () => {
    const { name } = await sentBySomebody()
    await ask(name)
    await expect(ask(name)).rejects.toThrow()
  })

  test('already returned is refused on another request, and also after the rows are lost', async () => {
    const context = await fixture.begin()
    const { address, name } = await sentBySomebody()
    await ask(name)
    await decided(context, name)
    const done = await finished(context, name)
    const forget = () => database.run((db) => db.delete(requests).where(eq(requests.txHash, name.txHash)))
    await forget()
    await ask(name)
    expect(await decided(context, name)).toMatchObject({
      refusal: `it was already given back in ${done!.txHash}`,
    })
    await forget()
    await database.run((db) => db.delete(operations).where(eq(operations.id, done!.id)))
    await ask(name)
    expect(await decided(context, name)).toMatchObject({
      refusal: 'it was already given back according to the token',
    })
    expect(await fixture.balanceOf(address)).toBe(10_000_000n)
  })

  test('is not returned again when the token has the return, whatever the row', async () => {
    const context = await fixture.begin()
    const { address, name } = await sentBySomebody()
    await ask(name)
    await decided(context, name)
    const terms = { to: address, value: 4_000_000n, nonce: givebackNonce(nameOf(name)) }
    const signed = await fixture.sign(actorKeys.treasury, terms)
    const txHash = await fixture.submit(actorKeys.budi, contracts.ausd, transferData(signed))
    await until(async () => {
      const found = await operationFor(name)
      if (found?.state === 'waiting') await fixture.finish(context, found as never)
      return found?.state === 'settled'
    }, 'the giveback')
    expect(await operationFor(name)).toMatchObject({ txHash })
    expect(await fixture.balanceOf(address)).toBe(10_000_000n)
    expect(await linesOf(name)).toHaveLength(2)
  })

  test('above a limit of the treasury waits, and counts among the returns', async () => {
    const context = {
      ...(await fixture.begin()),
      ...fixture.signersOf({ return: { most: 3_999_999n, day: 10n ** 12n } }),
    }
    const { name } = await sentBySomebody()
    await ask(name)
    await decided(context, name)
    await until(async () => {
      await relayOnce(context)
      return (await operationFor(name))?.reason === 'policy_refused'
    }, 'the refusal of the key')
    await database.run((db) => db.update(operations).set({ notBefore: new Date() }))
    await finished(await fixture.begin(), name)
    const counted = await database.read((db) =>
      db
        .select()
        .from(signedAmounts)
        .where(and(eq(signedAmounts.spending, 'return'), eq(signedAmounts.amount, 4_000_000n))),
    )
    expect(counted.length).toBeGreaterThan(0)
  })
})

describe('security: no AUSD is returned', () => {
  const mintTo = async () => {
    const args = [treasury, 1_000_000n] as const
    const data = encodeFunctionData({ abi: ausdAbi, functionName: 'mint', args })
    return fixture.submit(actorKeys.admin, contracts.ausd, data)
  }
  const revoked = async (context: Context) => {
    const wallet = actors.ana.address.toLowerCase() as Hex
    const refId = newRefId()
    const tasks = [
      { kind: 'credit', payload: { refId, wallet, ausd: '3000000', held: true } },
      { kind: 'revoke', payload: { refId, wallet, of: 'topup' } },
    ] as const
    for (const task of tasks) {
      await fixture.command(task)
      await fixture.finish(context, task)
    }
    return (await fixture.operationOf(tasks[1])).txHash!
  }
  const elsewhere = async () => {
    const { key } = await newWallet(fixture)
    const signed = await fixture.sign(key, {
      to: actors.budi.address,
      value: 1n,
      nonce: newNonce(),
    })
    return fixture.submit(actorKeys.budi, contracts.ausd, transferData(signed))
  }
  const absent = 'no final block contains this AUSD transfer to the treasury'

  test.each([
    ['that was minted', mintTo, 'it was minted and has no sender'],
    ['that a revocation moved', revoked, 'the credit line sent it for a revocation'],
  ])('%s', async (_, make, refusal) => {
    const context = await fixture.begin()
    const [name] = await arrivalsIn(await make(context))
    await ask(name!)
    expect(await decided(context, name!)).toMatchObject({ state: 'refused', refusal })
  })

  test.each([
    ['of an unknown transaction', async () => ({ txHash: newNonce(), logIndex: 0 })],
    ['that was sent to another wallet', async () => ({ txHash: await elsewhere(), logIndex: 1 })],
    ['of a log that is no transfer', async () => ({ txHash: (await sentBySomebody()).name.txHash, logIndex: 0 })],
    ['of a log that there is not', async () => ({ txHash: (await sentBySomebody()).name.txHash, logIndex: 99 })],
  ])('%s', async (_, forge) => {
    const context = await fixture.begin()
    const name = await forge()
    await ask(name)
    expect(await decided(context, name)).toMatchObject({ state: 'refused', refusal: absent })
    expect(await operationFor(name)).toBeUndefined()
  })

  test('of another token contract', async () => {
    const context = await fixture.begin()
    const { name } = await sentByItself()
    const forged: Context = { ...context, contracts: { ...contracts, ausd: contracts.creditLine } }
    await ask(name)
    expect(await decided(forged, name)).toMatchObject({ state: 'refused', refusal: absent })
  })

  test('of a block that is not final, until it is final', async () => {
    const context = await fixture.begin()
    const { address, name } = await sentBySomebody()
    const { blockNumber } = await chain.getTransactionReceipt({ hash: name.txHash })
    fixture.endpoint.intercept = (method, forward, [tag]) =>
      method === 'eth_getBlockByNumber' && tag === 'finalized'
        ? forward().then(async (answer) => {
            const { result, ...rest } = (await answer.json()) as { result: object }
            const number = `0x${(blockNumber - 1n).toString(16)}`
            return Response.json({ ...rest, result: { ...result, number } })
          })
        : undefined
    await ask(name)
    await takeUpRequests(context)
    expect((await requestOf(name)).state).toBe('asked')
    fixture.endpoint.intercept = undefined
    await decided(context, name)
    await finished(context, name)
    expect(await fixture.balanceOf(address)).toBe(10_000_000n)
  })

  test('while the chain cannot be read, and no decision is made: if that lasts, an alert is raised', async () => {
    const context = listening(await fixture.begin())
    const { name } = await sentBySomebody()
    fixture.endpoint.intercept = () => Promise.resolve(new Response('', { status: 503 }))
    await ask(name)
    await takeUpRequests(context)
    expect((await requestOf(name)).state).toBe('asked')
    expect(context.raised).toEqual([])
    const { oldestAlarmMs } = context.settings
    const later = listening({ ...context, clock: () => Date.now() + oldestAlarmMs })
    await takeUpRequests(later)
    const msg = 'giveback check failed, will retry'
    expect(later.raised).toMatchObject([{ msg, transfer: nameOf(name), err: { message: expect.any(String) } }])
    fixture.endpoint.intercept = undefined
    await decided(context, name)
    await finished(context, name)
  })

  test('by an operation whose amount contradicts the chain: it is never signed, and an alert is raised', async () => {
    const context = listening(await fixture.begin())
    const { address, name } = await sentBySomebody()
    await ask(name)
    await decided(context, name)
    await database.run((db) =>
      db
        .update(operations)
        .set({ payload: sql`${operations.payload} || '{"ausd": "9000000"}'` })
        .where(eq(operations.cause, nameOf(name))),
    )
    expect(context.raised).toEqual([])
    for (let rounds = 0; rounds < 3; rounds++) await relayOnce(context)
    expect(await operationFor(name)).toMatchObject({ state: 'waiting', nonce: null })
    const why = 'the chain has another transfer at this log'
    expect(context.raised).toMatchObject([{ msg: 'giveback no longer owed', transfer: nameOf(name), why }])
    expect(await fixture.balanceOf(address)).toBe(6_000_000n)
    await database.run((db) => db.delete(operations).where(eq(operations.cause, nameOf(name))))
  })
})
