import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import {
  encodeErrorResult,
  encodeFunctionData,
  type Hex,
  numberToHex,
  toFunctionSelector,
} from 'viem'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { refOf } from '#shared/chain/ref'
import { toUnixSeconds } from '#shared/clock'
import * as questions from '#shared/messages/chain'
import { readAnswers } from './account.responder'
import { assignWaiting } from './assign'
import type { Hold } from './hold'
import { holdLanes } from './lanes'
import type { Task } from './operation'
import { type Interference, openStage, until } from './rig/stage'
import { freeze, newRefId, newWallet, verify } from './rig/wallets'
import { round } from './rounds'

const stage = await openStage()
afterAll(stage.close)
afterEach(() => {
  stage.liar.interfere = undefined
})
const { chain, contracts, desk } = stage
await stage.mint(stage.treasury.address, 10_000_000_000n)

const paidAt = String(toUnixSeconds(Date.now()))
const credit = (wallet: Hex, held: boolean, refId: string = newRefId()) =>
  ({ kind: 'credit', payload: { refId, wallet, ausd: '20000000', held } }) as const
const repay = (wallet: Hex, held: boolean, refId: string = newRefId()) =>
  ({ kind: 'repay', payload: { refId, wallet, ausd: '5000000', held, paidAt } }) as const
const revoke = (wallet: Hex, of: 'topup' | 'settlement', refId: string) =>
  ({ kind: 'revoke', payload: { refId, wallet, of } }) as const
const extend = (wallet: Hex, refId: string, until: string) =>
  ({ kind: 'extend', payload: { refId, wallet, until } }) as const

const ask = readAnswers(desk).find(({ question }) => question === questions.ChainHold)!
const holdOf = async (refId: string) => ((await ask.answer({ refId })) as { ok: Hold }).ok
const somebody: Hex = `0x${'c0'.repeat(20)}`

async function done(task: Task) {
  const relayer = await stage.begin()
  await stage.command(task)
  return stage.finish(relayer, task)
}

/** An endpoint whose newest and final block is an old one. */
const lagging =
  (blockNumber: bigint): Interference =>
  (method, _forward, params) => {
    const ask = (own: unknown[]) =>
      fetch(stage.rpcUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: own }),
      })
    const at = numberToHex(blockNumber)
    if (method === 'eth_call') return ask([params[0], at])
    return method === 'eth_getBlockByNumber' ? ask([at, false]) : undefined
  }

/** Lets the chain's clock run past every hold of a minute. */
async function afterTheHold() {
  await chain.increaseTime({ seconds: 61 })
  await chain.mine({ blocks: 3 })
}

/** Verified, with 20 AUSD of collateral; 5 AUSD of it drawn. */
async function borrower() {
  const { key, address } = await newWallet(stage, 0n)
  await done(verify(address, true, 1n))
  await done(credit(address, false))
  const args = [5_000_000n, address] as const
  const data = encodeFunctionData({ abi: creditLineAbi, functionName: 'draw', args })
  await stage.submit(key, contracts.creditLine, data)
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

/** An order, given once what it is about is on the chain, and what is so when it is done. */
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

/** To be sent two seconds into the hold: then a hold of a minute can be put off by two seconds. */
async function extendNow(wallet: Hex, refId: string) {
  const { until } = await holdOf(refId)
  await chain.increaseTime({ seconds: 2 })
  await chain.mine({ blocks: 3 })
  return extend(wallet, refId, until!)
}

/** How an account stands after an order; amounts in whole AUSD. */
async function standing(wallet: Hex, { payload }: Task) {
  const { drawn, encumbered, available } = await stage.lineOf(wallet)
  const { state, until } = await holdOf('refId' in payload ? payload.refId : '')
  const extended = 'until' in payload && BigInt(until!) > BigInt(payload.until)
  const whole = (micro: bigint) => micro / 1_000_000n
  const amounts = {
    drawn: whole(drawn),
    encumbered: whole(encumbered),
    available: whole(available),
  }
  return { ...amounts, hold: state, extended }
}

describe('what is ordered of a hold', () => {
  test.each(stories)('%s is done by a transaction of its own', async (_case, ordered, outcome) => {
    const wallet = await borrower()
    const task = await ordered(wallet)
    expect(await done(task)).toMatchObject({ state: 'settled', reason: null })
    expect(await standing(wallet, task)).toMatchObject(outcome)
  })

  test.each(stories)('%s is done together with others', async (_case, ordered, outcome) => {
    const wallet = await borrower()
    const tasks = [await ordered(wallet), credit(somebody, false)]
    const relayer = await stage.begin()
    for (const task of tasks) await stage.command(task)
    const ended = []
    for (const task of tasks) ended.push(await stage.finish(relayer, task))
    expect(ended[0]).toMatchObject({ state: 'settled', txHash: ended[1]!.txHash })
    expect(await standing(wallet, tasks[0]!)).toMatchObject(outcome)
  })

  test('is one operation however often it is ordered', async () => {
    const wallet = await borrower()
    const before = await stage.balanceOf(stage.treasury.address)
    const refId = await heldRepayment(wallet)
    const task = revoke(wallet, 'settlement', refId)
    const relayer = await stage.begin()
    await Promise.all(Array.from({ length: 4 }, () => stage.command(task)))
    await stage.finish(relayer, task)
    await stage.command(task)
    await round(relayer)
    expect(await stage.balanceOf(stage.treasury.address)).toBe(before)
    expect((await stage.lineOf(wallet)).drawn).toBe(5_000_000n)
  })
})

describe('the hold of a ref', () => {
  test('is none before anything, held, released by time alone, and told with the chain clock', async () => {
    const refId = newRefId()
    expect(await holdOf(refId)).toMatchObject({ state: 'none', until: null })
    await done(credit(somebody, true, refId))
    const held = await holdOf(refId)
    expect(held.state).toBe('held')
    expect(Number(held.until) - Number(held.blockTime)).toBeWithin(1, 61)
    await afterTheHold()
    const released = await holdOf(refId)
    expect(released).toMatchObject({ state: 'released', until: held.until })
    expect(Number(released.blockTime)).toBeGreaterThan(Number(held.until))
  })

  test('is none of money that was never held', async () => {
    const task = credit(somebody, false)
    await done(task)
    expect(await holdOf(task.payload.refId)).toMatchObject({ state: 'none', until: null })
  })

  test('is not none to an endpoint that has not come to it yet: refused', async () => {
    const before = await chain.getBlockNumber()
    const refId = await heldTopUp(somebody)
    const backwards = lagging(before)
    stage.liar.interfere = backwards
    expect(await ask.answer({ refId })).toEqual({ refused: 'chain_unavailable' })
    stage.liar.interfere = undefined
    expect(await holdOf(refId)).toMatchObject({ state: 'held' })
  })

  test('cannot be read while no endpoint answers: refused, not none', async () => {
    stage.liar.interfere = async () => new Response('', { status: 503 })
    expect(await ask.answer({ refId: newRefId() })).toEqual({ refused: 'chain_unavailable' })
  })
})

describe('a hold that is over', () => {
  test.each([
    ['alone', []],
    ['with others', [credit(somebody, false), credit(somebody, false)]],
  ] as const)('costs nothing to revoke in vain, ordered %s', async (_case, others) => {
    const task = revoke(somebody, 'topup', await heldTopUp(somebody))
    await afterTheHold()
    const relayer = await stage.begin()
    for (const one of [task, ...others]) await stage.command(one)
    expect(await stage.finish(relayer, task)).toMatchObject({
      ...{ state: 'failed', reason: 'not_held', nonce: null, tries: 0 },
    })
    for (const one of others) expect((await stage.finish(relayer, one)).state).toBe('settled')
  })

  test('according to the newest block alone is not given up on', async () => {
    const task = revoke(somebody, 'topup', await heldTopUp(somebody))
    const data = encodeErrorResult({
      ...{ abi: creditLineAbi, errorName: 'NotHeld' },
      args: [refOf(task.payload.refId)],
    })
    const over = { code: 3, message: 'execution reverted', data }
    let asked = 0
    stage.liar.interfere = (method, _forward, [call, block]) => {
      if (method !== 'eth_call' || block !== 'latest' || !isRevocation(call)) return undefined
      asked++
      return Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, error: over }))
    }
    const relayer = await stage.begin()
    await stage.command(task)
    await until(async () => {
      await round(relayer)
      return asked >= 3
    }, 'a third look')
    expect(await stage.operationOf(task)).toMatchObject({ state: 'waiting', nonce: null, tries: 0 })
    stage.liar.interfere = undefined
    expect((await stage.finish(relayer, task)).state).toBe('settled')
    expect(await holdOf(task.payload.refId)).toMatchObject({ state: 'revoked' })
  })

  test('according to an endpoint that has not come to the payment yet is not given up on', async () => {
    const before = await chain.getBlockNumber()
    const task = revoke(somebody, 'topup', await heldTopUp(somebody))
    const relayer = await stage.begin()
    await stage.command(task)
    let looks = 0
    const backwards = lagging(before)
    stage.liar.interfere = (...request) => {
      if (request[0] === 'eth_call') looks++
      return backwards(...request)
    }
    await until(async () => {
      await round(relayer)
      // Two calls each time: at the newest block and at the final one.
      return looks >= 6
    }, 'a third look')
    expect(await stage.operationOf(task)).toMatchObject({ state: 'waiting', nonce: null, tries: 0 })
    stage.liar.interfere = undefined
    expect((await stage.finish(relayer, task)).state).toBe('settled')
  })
  const isRevocation = (call: unknown) =>
    (call as { data: Hex }).data.startsWith(toFunctionSelector('revokeTopUp(bytes32)'))
})

describe('an extension', () => {
  test('of a hold that ends later already is done, and nothing is sent', async () => {
    const refId = await heldTopUp(somebody)
    const { until: endsAt } = await holdOf(refId)
    const earlier = extend(somebody, refId, String(BigInt(endsAt!) - 1n))
    expect(await done(earlier)).toMatchObject({ state: 'settled', txHash: null, nonce: null })
    expect(await holdOf(refId)).toMatchObject({ until: endsAt })
  })

  test('that would not put off the end fails, and says so', async () => {
    await chain.setBlockTimestampInterval({ interval: 0 })
    const refId = await heldTopUp(somebody)
    const ended = await done(extend(somebody, refId, (await holdOf(refId)).until!))
    await chain.removeBlockTimestampInterval()
    expect(ended).toMatchObject({ state: 'failed', reason: 'hold_not_extendable', nonce: null })
  })

  test('of what was never held fails', async () => {
    const ended = await done(extend(somebody, newRefId(), '1790000000'))
    expect(ended).toMatchObject({ state: 'failed', reason: 'not_held', nonce: null })
  })
})

describe('what waits', () => {
  const noncesOf = async (tasks: readonly Task[]) =>
    Promise.all(tasks.map(async (task) => (await stage.operationOf(task)).nonce))

  test.each([1, 16])('goes in the order of its urgency, %i to a transaction', async (batchMax) => {
    const [first, second] = [await heldTopUp(somebody), await heldTopUp(somebody)]
    const relayer = await stage.begin({ batchMax })
    const credits = Array.from({ length: 20 }, () => credit(somebody, false))
    const urgent = [revoke(somebody, 'topup', first), await extendNow(somebody, second)]
    const frozen = freeze(somebody, true, BigInt(Date.now()))
    for (const task of [...credits, frozen, ...urgent]) await stage.command(task)
    await assignWaiting(relayer, await holdLanes(relayer))
    const [revoked, extended, stopped] = await noncesOf([...urgent, frozen])
    expect([revoked, extended, stopped]).not.toContain(null)
    const others = (await noncesOf(credits)).filter((nonce) => nonce !== null)
    expect(others.length).toBeGreaterThan(0)
    expect(Math.max(revoked!, extended!)).toBeLessThanOrEqual(stopped!)
    expect(Math.max(revoked!, extended!)).toBeLessThanOrEqual(Math.min(...others))
    if (batchMax === 1) expect(stopped!).toBeLessThan(Math.min(...others))
    for (const task of [...urgent, frozen, ...credits]) await stage.finish(relayer, task)
  })

  test.each(['topup', 'settlement'] as const)(
    'for its %s to be on the chain is the revocation of it',
    async (of) => {
      const wallet = await borrower()
      const money = of === 'topup' ? credit(wallet, true) : repay(wallet, true)
      const task = revoke(wallet, of, money.payload.refId)
      const relayer = await stage.begin()
      await stage.command(money)
      await stage.command(task)
      const [before, after] = [
        await stage.finish(relayer, money),
        await stage.finish(relayer, task),
      ]
      expect([before.state, after.state]).toEqual(['settled', 'settled'])
      expect(after.blockNumber!).toBeGreaterThan(before.blockNumber!)
      expect(await standing(wallet, task)).toMatchObject({ hold: 'revoked', drawn: 5n })
    },
  )
})
