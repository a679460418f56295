import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { encodeFunctionData, type Hex } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { multicall3 } from '#shared/chain/client'
import { canonical } from '#shared/chain/given-authorization'
import { AuthorizationCheck } from '#shared/messages/chain'
import { actorKeys, actors } from '#test/support/contracts'
import type { Context } from '../context'
import { holdLanes } from '../lanes/held-lanes'
import { answersOf } from '../questions/answers'
import { createSend } from '../questions/send'
import { relayOnce } from '../relay-loop'
import { newNonce, newRefId, newWallet, openFixture, recipient, take, until, verify } from '../test-support'
import { assignWaiting } from '../transactions/assign'
import { orderOf, type Task } from './operation'
import { insertOperation } from './operation.store'
import { operations } from './operation.table'

const fixture = await openFixture(2)
afterAll(fixture.close)
const { contracts, database } = fixture
const treasury = fixture.treasury.address
const ana = actors.ana.address.toLowerCase() as Hex

type Switch =
  | 'setAccountFrozen'
  | 'setTransferPaused'
  | 'setSignatureVerificationPaused'
  | 'setIsMsgSenderFrozenCheckEnabled'
const flip = (functionName: Switch, args: readonly unknown[]) =>
  fixture.submit(actorKeys.admin, contracts.ausd, encodeFunctionData({ abi: ausdAbi, functionName, args } as never))
const undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const back of undo.splice(0)) await back()
})
async function set(functionName: Switch, ...args: unknown[]) {
  undo.push(() => flip(functionName, [...args, false]))
  await flip(functionName, [...args, true])
}

const credit = (): Task => ({
  kind: 'credit',
  payload: { refId: newRefId(), wallet: ana, ausd: '1000000', held: false },
})
const giveBack = (wallet: Hex): Task => ({
  kind: 'return',
  payload: { payoutId: crypto.randomUUID(), wallet: wallet.toLowerCase() as Hex, ausd: '1000000' },
})
async function takeOf({ key }: { key: Hex }): Promise<Task> {
  return take(await fixture.sign(key, { to: treasury, value: 1_000_000n, nonce: newNonce() }))
}
const signedTake = async () => takeOf(await newWallet(fixture))

function listening(context: Context): Context & { readonly alarms: string[] } {
  const alarms: string[] = []
  const logThrottled: Context['logThrottled'] = { warn: () => {}, alarm: (_, __, line) => void alarms.push(line) }
  return { ...context, logThrottled, alarms }
}
const stateOf = async (task: Task) => (await fixture.operationOf(task)).state
const examineNow = (task: Task) =>
  database.run((db) =>
    db
      .update(operations)
      .set({ notBefore: new Date() })
      .where(eq(operations.id, orderOf(task).id)),
  )

describe('the relayer postpones an operation with an alert until the issuer allows it:', () => {
  test.each<[string, Switch, unknown[], () => Promise<Task>]>([
    ['transfers paused, a credit', 'setTransferPaused', [], async () => credit()],
    ['transfers paused, a take', 'setTransferPaused', [], signedTake],
    ['signatures paused, a take', 'setSignatureVerificationPaused', [], signedTake],
    ['the treasury frozen, a credit', 'setAccountFrozen', [treasury], async () => credit()],
    ['the treasury frozen, a take', 'setAccountFrozen', [treasury], signedTake],
    ['the credit line frozen, a credit', 'setAccountFrozen', [contracts.creditLine], async () => credit()],
    ['its receiver frozen, a return', 'setAccountFrozen', [recipient], async () => giveBack(recipient)],
  ])('%s', async (_, name, args, make) => {
    const context = listening(await fixture.begin())
    const task = await make()
    await set(name, ...args)
    await fixture.command(task)
    await until(async () => {
      await relayOnce(context)
      return context.alarms.length > 0
    }, 'an alarm')
    expect(await stateOf(task)).toBe('waiting')
    for (const back of undo.splice(0)) await back()
    await examineNow(task)
    expect((await fixture.finish(context, task)).state).toBe('settled')
  })

  test('while signatures are paused, operations without one proceed', async () => {
    const context = await fixture.begin()
    await set('setSignatureVerificationPaused')
    const task = credit()
    await fixture.command(task)
    expect((await fixture.finish(context, task)).state).toBe('settled')
  })
})

describe('while the token refuses frozen callers and the issuer has frozen', () => {
  const [first, second] = fixture.keys.map(({ address }) => address) as [Hex, Hex]
  const allFrozen = async (...accounts: Hex[]) => {
    await set('setIsMsgSenderFrozenCheckEnabled')
    for (const account of accounts) await set('setAccountFrozen', account)
  }

  test.each([
    ['the lane with the most coin', first],
    ['the other lane', second],
  ])('%s, transfers and returns go through the lane that is not frozen, with an alert', async (_, frozen) => {
    await fixture.chain.setBalance({ address: first, value: 10n ** 22n })
    await fixture.chain.setBalance({ address: second, value: 5n * 10n ** 21n })
    await allFrozen(frozen)
    const context = listening(await fixture.begin())
    for (let round = 0; round < 2; round++) {
      const task = await signedTake()
      await fixture.command(task)
      const done = await fixture.finish(context, task)
      expect(done).toMatchObject({ state: 'settled', tries: 0 })
      expect(done.lane).not.toBe(frozen.toLowerCase() as Hex)
    }
    expect(context.alarms).toContain('lane frozen by the issuer of AUSD')
  })

  test('every lane, a cash-out waits with an alert, and a credit proceeds', async () => {
    await allFrozen(first, second)
    const context = listening(await fixture.begin())
    const [task, topUp] = [await signedTake(), credit()]
    await fixture.command(task)
    await fixture.command(topUp)
    expect((await fixture.finish(context, topUp)).state).toBe('settled')
    await until(async () => {
      await relayOnce(context)
      return context.alarms.includes('operation blocked: treasury, pause, freeze or role')
    }, 'an alarm')
    expect(await stateOf(task)).toBe('waiting')
    for (const back of undo.splice(0)) await back()
    await examineNow(task)
    expect((await fixture.finish(context, task)).state).toBe('settled')
  })

  test('Multicall3, two cash-outs of a bundle proceed one by one', async () => {
    await allFrozen(multicall3)
    const context = await fixture.begin()
    const tasks = [await signedTake(), await signedTake()]
    for (const task of tasks) await fixture.command(task)
    for (const task of tasks) expect((await fixture.finish(context, task)).state).toBe('settled')
    const ended = await Promise.all(tasks.map(fixture.operationOf))
    expect(new Set(ended.map(({ txHash }) => txHash)).size).toBe(2)
  })

  test('a lane after it was assigned a cash-out, the cash-out proceeds through another lane', async () => {
    const context = await fixture.begin()
    const task = await signedTake()
    await fixture.command(task)
    await assignWaiting(context, await holdLanes(context))
    const { lane } = await fixture.operationOf(task)
    await allFrozen(lane!)
    const done = await fixture.finish(context, task)
    expect(done).toMatchObject({ state: 'settled', tries: 1 })
    expect(done.lane).not.toBe(lane)
  })
})

describe('a send and a cash-out are refused while the issuer has paused', () => {
  test.each<[string, Switch]>([
    ['all transfers', 'setTransferPaused'],
    ['transfers by signature', 'setSignatureVerificationPaused'],
  ])('%s, and accepted afterwards', async (_, name) => {
    const context = await fixture.begin()
    const { key, address } = await newWallet(fixture)
    const verified = verify(address, true, 1n)
    await fixture.command(verified)
    await fixture.finish(context, verified)
    const signed = canonical(await fixture.sign(key, { to: recipient, value: 50_000n, nonce: newNonce() }))
    const check = () =>
      answersOf(context)
        .find(({ question }) => question === AuthorizationCheck)!
        .answer({ authorization: signed })
    await set(name)
    expect(await check()).toEqual({ refused: 'ausd_paused' })
    expect(await createSend(context, address, signed)).toEqual({ refused: 'ausd_paused' })
    for (const back of undo.splice(0)) await back()
    expect(await check()).toHaveProperty('ok.free')
    expect(await createSend(context, address, signed)).toHaveProperty('ok.sendId')
  })
})

describe('the relayer fails an operation of a frozen user without an alert:', () => {
  test('a cash-out', async () => {
    const context = listening(await fixture.begin())
    const wallet = await newWallet(fixture)
    const task = await takeOf(wallet)
    await set('setAccountFrozen', wallet.address)
    await fixture.command(task)
    const done = await fixture.finish(context, task)
    expect(context.alarms).toEqual([])
    expect(done).toMatchObject({ state: 'failed', reason: 'account_frozen', nonce: null })
  })

  test('a send to a frozen recipient', async () => {
    const context = await fixture.begin()
    const { key } = await newWallet(fixture)
    await set('setAccountFrozen', recipient)
    const terms = { to: recipient, value: 1_000_000n, nonce: newNonce() }
    const authorization = await fixture.sign(key, terms)
    const task: Task = { kind: 'send', payload: { sendId: crypto.randomUUID(), authorization } }
    await database.transaction((tx) => insertOperation(tx, orderOf(task)))
    const done = await fixture.finish(context, task)
    expect(done).toMatchObject({ state: 'failed', reason: 'account_frozen', nonce: null })
  })
})
