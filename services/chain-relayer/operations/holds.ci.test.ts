import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { encodeErrorResult, encodeFunctionData, type Hex, numberToHex, toFunctionSelector } from 'viem'
import { toUnixSeconds } from '#platform/clock'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { refOf } from '#shared/chain/ref'
import * as questions from '#shared/messages/chain'
import { holdLanes } from '../lanes/held-lanes'
import { answersOf } from '../questions/answers'
import type { Hold } from '../questions/reads'
import { relayOnce } from '../relay-loop'
import { freeze, type Intercept, newRefId, newWallet, openFixture, until, verify } from '../test-support'
import { assignWaiting } from '../transactions/assign'
import type { Task } from './operation'

const fixture = await openFixture()
afterAll(fixture.close)
afterEach(() => {
  fixture.endpoint.intercept = undefined
})
const { chain, contracts } = fixture
await fixture.mint(fixture.treasury.address, 10_000_000_000n)

const paidAt = String(toUnixSeconds(Date.now()))
const credit = (wallet: Hex, held: boolean, refId: string = newRefId()) =>
  ({ kind: 'credit', payload: { refId, wallet, ausd: '20000000', held } }) as const
const repay = (wallet: Hex, held: boolean, refId: string = newRefId()) =>
  ({ kind: 'repay', payload: { refId, wallet, ausd: '5000000', held, paidAt } }) as const
const revoke = (wallet: Hex, of: 'topup' | 'settlement', refId: string) =>
  ({ kind: 'revoke', payload: { refId, wallet, of } }) as const
/** Returns a revocation that leaves `left`, in 10⁻⁶ AUSD. */
const revokeTo = (left: string, wallet: Hex, of: 'topup' | 'settlement', refId: string) =>
  ({ kind: 'revoke', payload: { refId, wallet, of, left } }) as const
const extend = (wallet: Hex, refId: string, until: string) =>
  ({ kind: 'extend', payload: { refId, wallet, until } }) as const

const ask = answersOf(fixture.context).find(({ question }) => question === questions.ChainHold)!
const holdOf = async (refId: string) => ((await ask.answer({ refId })) as { ok: Hold }).ok
const somebody: Hex = `0x${'c0'.repeat(20)}`

async function done(task: Task) {
  const context = await fixture.begin()
  await fixture.command(task)
  return fixture.finish(context, task)
}

const lagging =
  (blockNumber: bigint): Intercept =>
  (method, _forward, params) => {
    const ask = (own: unknown[]) =>
      fetch(fixture.rpcUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: own }),
      })
    const at = numberToHex(blockNumber)
    if (method === 'eth_call') return ask([params[0], at])
    return method === 'eth_getBlockByNumber' ? ask([at, false]) : undefined
  }

/** Moves the chain past the end of the hold, which lasts a minute. */
async function afterTheHold() {
  await chain.increaseTime({ seconds: 65 })
  await chain.mine({ blocks: 3 })
}

/** Returns a verified wallet that has 20 AUSD of collateral and has drawn 5 AUSD. */
async function borrower() {
  const { key, address } = await newWallet(fixture, 0n)
  await done(verify(address, true, 1n))
  await done(credit(address, false))
  const args = [5_000_000n, address] as const
  const data = encodeFunctionData({ abi: creditLineAbi, functionName: 'draw', args })
  await fixture.submit(key, contracts.creditLine, data)
  return address
}

async function heldTopUp(wallet: Hex) {
  const task = credit(wallet, true)
  await done(task)
  return task.payload.refId
}
async function heldRepayment(wallet: Hex) {
  const task = repay(wallet, true)
  await done(task)
  return task.payload.refId
}

/** A title, the order to make once its subject is on the chain, and the account afterwards. */
type Story = readonly [string, (wallet: Hex) => Promise<Task>, object]
const stories: readonly Story[] = [
  ['a held credit', async (wallet) => credit(wallet, true), { hold: 'held', drawn: 5n }],
  ['a repayment', async (wallet) => repay(wallet, false), { drawn: 0n, available: 10n }],
  [
    'a held repayment',
    async (wallet) => repay(wallet, true),
    { hold: 'held', drawn: 0n, encumbered: 5n, available: 5n },
  ],
  [
    'the revocation of a top-up',
    async (wallet) => revoke(wallet, 'topup', await heldTopUp(wallet)),
    { hold: 'revoked', drawn: 5n },
  ],
  [
    'the revocation of a settlement',
    async (wallet) => revoke(wallet, 'settlement', await heldRepayment(wallet)),
    { hold: 'revoked', drawn: 5n, encumbered: 0n },
  ],
  [
    'the revocation of a part of a top-up',
    async (wallet) => revokeTo('7000000', wallet, 'topup', await heldTopUp(wallet)),
    { hold: 'held', drawn: 5n, pending: 7n },
  ],
  [
    'the revocation of a part of a settlement',
    async (wallet) => revokeTo('2000000', wallet, 'settlement', await heldRepayment(wallet)),
    { hold: 'held', drawn: 3n, encumbered: 2n, pending: 0n },
  ],
  [
    'the extension of a top-up',
    async (wallet) => extendNow(wallet, await heldTopUp(wallet)),
    { hold: 'held', extended: true },
  ],
  [
    'the extension of a settlement',
    async (wallet) => extendNow(wallet, await heldRepayment(wallet)),
    { hold: 'held', extended: true, encumbered: 5n },
  ],
]

/**
 * Extends a hold five seconds after its start, when the next possible end of a one-minute hold is four seconds later.
 */
async function extendNow(wallet: Hex, refId: string) {
  const { until } = await holdOf(refId)
  await chain.increaseTime({ seconds: 5 })
  await chain.mine({ blocks: 3 })
  return extend(wallet, refId, until!)
}

/** Returns the account in whole AUSD. */
async function accountAfter(wallet: Hex, { payload }: Task) {
  const { drawn, encumbered, available, pendingShares } = await fixture.lineOf(wallet)
  const { state, until } = await holdOf('refId' in payload ? payload.refId : '')
  const extended = 'until' in payload && BigInt(until!) > BigInt(payload.until)
  const whole = (micro: bigint) => micro / 1_000_000n
  const amounts = {
    drawn: whole(drawn),
    encumbered: whole(encumbered),
    available: whole(available),
    pending: whole(pendingShares / 1_000_000n),
  }
  return { ...amounts, hold: state, extended }
}

describe('an order about a hold', () => {
  test.each(stories)('%s is done by its own transaction', async (_case, ordered, outcome) => {
    const wallet = await borrower()
    const task = await ordered(wallet)
    expect(await done(task)).toMatchObject({ state: 'settled', reason: null })
    expect(await accountAfter(wallet, task)).toMatchObject(outcome)
  })

  test.each(stories)('%s is done in one transaction with other such orders', async (_case, ordered, outcome) => {
    const wallet = await borrower()
    const tasks = [await ordered(wallet), await ordered(await borrower())]
    const context = await fixture.begin()
    for (const task of tasks) await fixture.command(task)
    const ended = []
    for (const task of tasks) ended.push(await fixture.finish(context, task))
    expect(ended[0]).toMatchObject({ state: 'settled', txHash: ended[1]!.txHash })
    expect(await accountAfter(wallet, tasks[0]!)).toMatchObject(outcome)
  })

  test('is one operation for any number of orders', async () => {
    const wallet = await borrower()
    const before = await fixture.balanceOf(fixture.treasury.address)
    const refId = await heldRepayment(wallet)
    const task = revoke(wallet, 'settlement', refId)
    const context = await fixture.begin()
    await Promise.all(Array.from({ length: 4 }, () => fixture.command(task)))
    await fixture.finish(context, task)
    await fixture.command(task)
    await relayOnce(context)
    expect(await fixture.balanceOf(fixture.treasury.address)).toBe(before)
    expect((await fixture.lineOf(wallet)).drawn).toBe(5_000_000n)
  })
})

describe('the state of a ref', () => {
  const askRef = answersOf(fixture.context).find(({ question }) => question === questions.ChainRef)!
  const stateOf = async (refId: string) =>
    ((await askRef.answer({ refId })) as { ok?: { state: string }; refused?: string }) ?? {}

  test.each([true, false])('is unused, ordered, then used permanently (held: %p)', async (held) => {
    const task = credit(somebody, held)
    const { refId } = task.payload
    expect(await stateOf(refId)).toEqual({ ok: { state: 'unused' } })
    const context = await fixture.begin()
    await fixture.command(task)
    expect(await stateOf(refId)).toEqual({ ok: { state: 'ordered' } })
    const { blockNumber } = await fixture.finish(context, task)
    expect(await stateOf(refId)).toEqual({ ok: { state: 'used' } })
    fixture.endpoint.intercept = lagging(blockNumber! - 1n)
    expect(await stateOf(refId)).toEqual({ refused: 'chain_unavailable' })
  })
})

describe('the hold of a ref', () => {
  test("is none before the credit, then held, then released by time, by the chain's clock", async () => {
    const refId = newRefId()
    expect(await holdOf(refId)).toMatchObject({ state: 'none', until: null })
    await done(credit(somebody, true, refId))
    const held = await holdOf(refId)
    expect(held.state).toBe('held')
    expect(Number(held.until) - Number(held.blockTime)).toBeWithin(1, 65)
    await afterTheHold()
    const released = await holdOf(refId)
    expect(released).toMatchObject({ state: 'released', until: held.until })
    expect(Number(released.blockTime)).toBeGreaterThan(Number(held.until))
  })

  test('is none for a credit without a hold', async () => {
    const task = credit(somebody, false)
    await done(task)
    expect(await holdOf(task.payload.refId)).toMatchObject({ state: 'none', until: null })
  })

  test('is refused, not none, by an endpoint that lags behind the credit', async () => {
    const before = await chain.getBlockNumber()
    const refId = await heldTopUp(somebody)
    const backwards = lagging(before)
    fixture.endpoint.intercept = backwards
    expect(await ask.answer({ refId })).toEqual({ refused: 'chain_unavailable' })
    fixture.endpoint.intercept = undefined
    expect(await holdOf(refId)).toMatchObject({ state: 'held' })
  })

  test('is refused, not none, while no endpoint responds', async () => {
    fixture.endpoint.intercept = async () => new Response('', { status: 503 })
    expect(await ask.answer({ refId: newRefId() })).toEqual({ refused: 'chain_unavailable' })
  })
})

describe('a hold that has ended', () => {
  test.each([
    ['alone', []],
    ['with others', [credit(somebody, false), credit(somebody, false)]],
  ] as const)('costs no gas for a late revocation, ordered %s', async (_case, others) => {
    const task = revoke(somebody, 'topup', await heldTopUp(somebody))
    await afterTheHold()
    const context = await fixture.begin()
    for (const one of [task, ...others]) await fixture.command(one)
    expect(await fixture.finish(context, task)).toMatchObject({
      state: 'failed',
      reason: 'not_held',
      nonce: null,
      tries: 0,
    })
    for (const one of others) expect((await fixture.finish(context, one)).state).toBe('settled')
  })

  test('according to the newest block only is still revoked later', async () => {
    const task = revoke(somebody, 'topup', await heldTopUp(somebody))
    const data = encodeErrorResult({
      abi: creditLineAbi,
      errorName: 'NotHeld',
      args: [refOf(task.payload.refId)],
    })
    const over = { code: 3, message: 'execution reverted', data }
    let asked = 0
    fixture.endpoint.intercept = (method, _forward, [call, block]) => {
      if (method !== 'eth_call' || block !== 'latest' || !isRevocation(call)) return undefined
      asked++
      return Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, error: over }))
    }
    const context = await fixture.begin()
    await fixture.command(task)
    await until(async () => {
      await relayOnce(context)
      return asked >= 3
    }, 'a third check')
    expect(await fixture.operationOf(task)).toMatchObject({
      state: 'waiting',
      nonce: null,
      tries: 0,
    })
    fixture.endpoint.intercept = undefined
    expect((await fixture.finish(context, task)).state).toBe('settled')
    expect(await holdOf(task.payload.refId)).toMatchObject({ state: 'revoked' })
  })

  test('according to an endpoint that lags behind the payment is still revoked later', async () => {
    const before = await chain.getBlockNumber()
    const task = revoke(somebody, 'topup', await heldTopUp(somebody))
    const context = await fixture.begin()
    await fixture.command(task)
    let calls = 0
    const backwards = lagging(before)
    fixture.endpoint.intercept = (...request) => {
      if (request[0] === 'eth_call') calls++
      return backwards(...request)
    }
    await until(async () => {
      await relayOnce(context)
      // Each check makes two calls, at the newest and at the final block.
      return calls >= 6
    }, 'a third check')
    expect(await fixture.operationOf(task)).toMatchObject({
      state: 'waiting',
      nonce: null,
      tries: 0,
    })
    fixture.endpoint.intercept = undefined
    expect((await fixture.finish(context, task)).state).toBe('settled')
  })
  const isRevocation = (call: unknown) =>
    (call as { data: Hex }).data.startsWith(toFunctionSelector('revokeTopUp(bytes32,uint256)'))
})

describe('the extension of a hold', () => {
  test('that already ends later is settled without a transaction', async () => {
    const refId = await heldTopUp(somebody)
    const { until: endsAt } = await holdOf(refId)
    const earlier = extend(somebody, refId, String(BigInt(endsAt!) - 1n))
    expect(await done(earlier)).toMatchObject({ state: 'settled', txHash: null, nonce: null })
    expect(await holdOf(refId)).toMatchObject({ until: endsAt })
  })

  test('that would not move its end fails with a reason', async () => {
    await chain.setBlockTimestampInterval({ interval: 0 })
    const refId = await heldTopUp(somebody)
    const ended = await done(extend(somebody, refId, (await holdOf(refId)).until!))
    await chain.removeBlockTimestampInterval()
    expect(ended).toMatchObject({ state: 'failed', reason: 'hold_not_extendable', nonce: null })
  })

  test('that never existed fails', async () => {
    const ended = await done(extend(somebody, newRefId(), '1790000000'))
    expect(ended).toMatchObject({ state: 'failed', reason: 'not_held', nonce: null })
  })
})

describe('the queue of waiting operations', () => {
  const noncesOf = async (tasks: readonly Task[]) =>
    Promise.all(tasks.map(async (task) => (await fixture.operationOf(task)).nonce))

  test.each([1, 16])('is ordered by urgency, with %i to a transaction', async (batchMax) => {
    const [first, second] = [await heldTopUp(somebody), await heldTopUp(somebody)]
    const context = await fixture.begin({ batchMax })
    const credits = Array.from({ length: 20 }, () => credit(somebody, false))
    const urgent = [revoke(somebody, 'topup', first), await extendNow(somebody, second)]
    // A freeze of the same wallet would hold the credits back until it is final.
    const frozen = freeze((await newWallet(fixture, 0n)).address, true, BigInt(Date.now()))
    for (const task of [...credits, frozen, ...urgent]) await fixture.command(task)
    let others: number[] = []
    await until(async () => {
      await assignWaiting(context, await holdLanes(context))
      others = (await noncesOf(credits)).filter((nonce) => nonce !== null)
      return others.length > 0
    }, 'the first credits having their turn')
    const [revoked, extended, stopped] = await noncesOf([...urgent, frozen])
    expect([revoked, extended, stopped]).not.toContain(null)
    expect(Math.max(revoked!, extended!)).toBeLessThanOrEqual(stopped!)
    expect(Math.max(revoked!, extended!)).toBeLessThanOrEqual(Math.min(...others))
    if (batchMax === 1) expect(stopped!).toBeLessThan(Math.min(...others))
    for (const task of [...urgent, frozen, ...credits]) await fixture.finish(context, task)
  })

  test.each([
    // guard: an order about a hold waits until its credit is on the chain
    ['topup', undefined],
    ['settlement', undefined],
    ['topup', '4000000'],
  ] as const)('revokes a %s after it is on the chain, until %s is left', async (of, left) => {
    const wallet = await borrower()
    const money = of === 'topup' ? credit(wallet, true) : repay(wallet, true)
    const { refId } = money.payload
    const task = left ? revokeTo(left, wallet, of, refId) : revoke(wallet, of, refId)
    const context = await fixture.begin()
    await fixture.command(money)
    await fixture.command(task)
    const [before, after] = [await fixture.finish(context, money), await fixture.finish(context, task)]
    expect([before.state, after.state]).toEqual(['settled', 'settled'])
    expect(after.blockNumber!).toBeGreaterThan(before.blockNumber!)
    const hold = left ? 'held' : 'revoked'
    expect(await accountAfter(wallet, task)).toMatchObject({ hold, drawn: 5n })
  })
})
