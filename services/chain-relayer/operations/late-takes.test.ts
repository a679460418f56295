import { afterAll, describe, expect, setSystemTime, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { encodeFunctionData, type Hex, numberToHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { idFor } from '#shared/ids'
import { actorKeys } from '#test/support/contracts'
import type { Context } from '../context'
import { holdLanes } from '../lanes/held-lanes'
import { entryOf } from '../questions/activity'
import { outbox } from '../schema.store'
import {
  cancelData,
  type Intercept,
  linesOf,
  listening,
  newNonce,
  newWallet,
  openFixture,
  recipient,
  take,
  transferData,
  until,
} from '../test-support'
import { assignWaiting } from '../transactions/assign'
import { searchOnce } from './authorization-search'
import { findCursor } from './cursor.store'
import { settleLateTakes } from './late-takes'
import { orderOf, sendIdOf } from './operation'
import { countWatched, endWatch, insertOperation } from './operation.store'
import { followTransfers } from './treasury-transfers'

const fixture = await openFixture()
afterAll(fixture.close)
const { chain, contracts, database } = fixture
const treasury = fixture.treasury.address

const begin = async () => listening(await fixture.begin())

/** Returns failed takes of a wallet that was empty and holds enough again. */
async function failedTakes(context: Context, count: number, forSeconds?: number) {
  const { key, address } = await newWallet(fixture, 0n)
  const takes = []
  for (let made = 0; made < count; made++) {
    const nonce = newNonce()
    const signed = await fixture.sign(key, { to: treasury, value: 4_000_000n, nonce, forSeconds })
    const task = take(signed)
    await fixture.command(task)
    const failed = await fixture.finish(context, task)
    expect(failed).toMatchObject({ state: 'failed', reason: 'balance_too_low' })
    takes.push({ signed, task })
  }
  await fixture.mint(address, 10_000_000n)
  return { key, address, takes }
}
async function failedTake(context: Context, forSeconds?: number) {
  const { takes, ...wallet } = await failedTakes(context, 1, forSeconds)
  return { ...wallet, ...takes[0]! }
}
const submitted = (data: Hex) => fixture.submit(actorKeys.budi, contracts.ausd, data)
const watchUntil = (context: Context, what: string, fact: () => Promise<unknown>) =>
  until(async () => {
    await settleLateTakes(context, 0)
    await searchOnce(context, new Map())
    return fact()
  }, what)
const told = (cause: string) =>
  database.read((db) =>
    db
      .select()
      .from(outbox)
      .where(eq(outbox.id, idFor('message', `relay.take.settled:${cause}`))),
  )
const isWatched = async (task: ReturnType<typeof take>) => (await fixture.operationOf(task)).watchAt !== null

const withoutResult = async (forward: () => Promise<Response>) => {
  const { id } = (await (await forward()).json()) as { id: number }
  return Response.json({ jsonrpc: '2.0', id, result: null })
}

/** Refuses queries with too many logs, as Alchemy and Infura do. */
const refusingLogsAbove =
  (logsMax: number): Intercept =>
  (method, forward) =>
    method === 'eth_getLogs' ? refuseAbove(logsMax, forward) : undefined

async function refuseAbove(logsMax: number, forward: () => Promise<Response>): Promise<Response> {
  const reply = (await (await forward()).json()) as { id: number; result: unknown[] }
  if (reply.result.length <= logsMax) return Response.json(reply)
  const message = `query returned more than ${logsMax} results`
  return Response.json({ jsonrpc: '2.0', id: reply.id, error: { code: -32005, message } })
}

describe('a failed send', () => {
  /** Returns a send that reverted because its wallet had become empty, and which the wallet could pay again. */
  async function revertedSend(context: Context) {
    const { key, address } = await newWallet(fixture, 4_000_000n)
    const authorization = await fixture.sign(key, { to: recipient, value: 4_000_000n, nonce: newNonce() })
    const task = { kind: 'send', payload: { sendId: sendIdOf(authorization), authorization } } as const
    await database.transaction((tx) => insertOperation(tx, orderOf(task)))
    await assignWaiting(context, await holdLanes(context))
    const args = [recipient, 1n] as const
    await fixture.submit(key, contracts.ausd, encodeFunctionData({ abi: ausdAbi, functionName: 'transfer', args }))
    expect(await fixture.finish(context, task)).toMatchObject({ state: 'failed', reason: 'balance_too_low' })
    await fixture.mint(address, 1n)
    return { key, authorization, task }
  }

  test('whose signature was in a transaction, and that anyone puts on the chain, is shown as sent', async () => {
    const context = await begin()
    const { authorization, task } = await revertedSend(context)
    const txHash = await submitted(transferData(authorization))
    const state = async () => (await fixture.operationOf(task)).state === 'settled'
    await watchUntil(context, 'the late settlement', state)
    expect(entryOf((await fixture.operationOf(task)) as never)).toMatchObject({
      status: 'sent',
      txHash,
      inFlight: false,
    })
    expect(linesOf(context)).toEqual([])
  })

  test('is shown as sent although the endpoint lacks its receipt at first', async () => {
    const context = await begin()
    const { authorization, task } = await revertedSend(context)
    const txHash = await submitted(transferData(authorization))
    let reads = 0
    fixture.endpoint.intercept = (method, forward, [hash]) => {
      if (method !== 'eth_getTransactionReceipt' || hash !== txHash) return undefined
      reads += 1
      return withoutResult(forward)
    }
    await watchUntil(context, 'an unknown use', async () => reads > 0 && context.memory.lookUps.size === 0)
    fixture.endpoint.intercept = undefined
    await watchUntil(context, 'the late settlement', async () => (await fixture.operationOf(task)).state === 'settled')
  })

  test('whose nonce its wallet uses for another transfer stays failed, without an alert', async () => {
    const context = await begin()
    const { key, authorization, task } = await revertedSend(context)
    const nonce = authorization.nonce as Hex
    await submitted(transferData(await fixture.sign(key, { to: treasury, value: 1n, nonce })))
    const isOver = async () => (await fixture.operationOf(task)).watchAt === null
    await watchUntil(context, 'the end of the watch', isOver)
    expect((await fixture.operationOf(task)).state).toBe('failed')
    expect(linesOf(context)).toEqual([])
  })
})

describe('a failed take', () => {
  test('that a third party puts on the chain is settled late, when it is final', async () => {
    const context = await begin()
    const { signed, task } = await failedTake(context)
    await settleLateTakes(context, 0)
    expect(await told(task.payload.payoutId)).toEqual([])
    const txHash = await submitted(transferData(signed))
    const state = async () => (await fixture.operationOf(task)).state === 'settled'
    await watchUntil(context, 'the late settlement', state)
    const settled = await fixture.operationOf(task)
    expect(settled).toMatchObject({ txHash, reason: 'balance_too_low', watchAt: null })
    const { number } = await chain.getBlock({ blockTag: 'finalized' })
    expect(settled.blockNumber! <= number!).toBe(true)
    expect(await told(task.payload.payoutId)).toMatchObject([{ payload: { cause: task.payload.payoutId, txHash } }])
    expect(linesOf(context)).toEqual([])
  })

  test('is settled by the next process if the transfer happened while no process ran', async () => {
    const { signed, task } = await failedTake(await begin())
    await submitted(transferData(signed))
    const state = async () => (await fixture.operationOf(task)).state === 'settled'
    await watchUntil(await begin(), 'the late settlement', state)
  })

  test('is watched at once, also by a process whose clock is ahead', async () => {
    const context = await begin()
    setSystemTime(new Date(Date.now() + 1_800_000))
    const { signed, task } = await failedTake(context).finally(() => setSystemTime())
    await submitted(transferData(signed))
    const state = async () => (await fixture.operationOf(task)).state === 'settled'
    await watchUntil(context, 'the late settlement', state)
  })

  test('that was settled late is announced as settled, not failed, when it is ordered again', async () => {
    const context = await begin()
    const { signed, task } = await failedTake(context)
    const txHash = await submitted(transferData(signed))
    await watchUntil(context, 'the end of the watch', async () => !(await isWatched(task)))
    await fixture.command(task)
    expect(await told(`${task.payload.payoutId}:1`)).toMatchObject([{ payload: { txHash } }])
  })

  test('security: whose nonce moved other money stays failed and raises an alert', async () => {
    const context = await begin()
    const { key, signed, task } = await failedTake(context)
    const nonce = signed.nonce as Hex
    await submitted(transferData(await fixture.sign(key, { to: recipient, value: 1n, nonce })))
    await watchUntil(context, 'the end of the watch', async () => !(await isWatched(task)))
    expect((await fixture.operationOf(task)).state).toBe('failed')
    expect(await told(task.payload.payoutId)).toEqual([])
    expect(linesOf(context)).toEqual(['authorization of a failed take used elsewhere'])
  })

  test('that its wallet cancelled stays failed without an alert', async () => {
    const context = await begin()
    const { key, signed, task } = await failedTake(context)
    await submitted(await cancelData(key, signed.nonce, contracts.domain))
    await watchUntil(context, 'the end of the watch', async () => !(await isWatched(task)))
    expect((await fixture.operationOf(task)).state).toBe('failed')
    expect(linesOf(context)).toEqual([])
  })

  test('security: is settled late for only one of several payouts that name its transfer', async () => {
    const context = await begin()
    const { signed, task } = await failedTake(context)
    const second = take(signed)
    await fixture.command(second)
    await submitted(transferData(signed))
    await watchUntil(context, 'the end of the watch', async () => !(await isWatched(task)))
    expect((await fixture.operationOf(task)).state).toBe('settled')
    const other = await fixture.operationOf(second)
    expect(other).toMatchObject({ state: 'failed', reason: 'authorization_conflict' })
    expect(other.watchAt).toBeNull()
  })

  test('security: costs one read of its transfer, however many takes of its wallet have failed', async () => {
    const context = await begin()
    await followTransfers(context)
    const { takes } = await failedTakes(context, 3)
    const [late] = takes
    const txHash = await submitted(transferData(late!.signed))
    let reads = 0
    fixture.endpoint.intercept = (method, _forward, [hash]) => {
      if (method === 'eth_getTransactionReceipt' && hash === txHash) reads += 1
      return undefined
    }
    await until(async () => {
      await followTransfers(context)
      return reads > 0
    }, 'the scan of the transfer')
    fixture.endpoint.intercept = undefined
    expect(reads).toBe(1)
    expect((await fixture.operationOf(late!.task)).state).toBe('settled')
    for (const { task } of takes) {
      const { id } = await fixture.operationOf(task)
      await database.run((db) => endWatch(db, id))
    }
  })

  test('stays watched, with an alert, while the receipt of its transfer has no logs', async () => {
    const context = await begin()
    const { signed, task } = await failedTake(context)
    const txHash = await submitted(transferData(signed))
    fixture.endpoint.intercept = (method, forward, [hash]) => {
      if (method !== 'eth_getTransactionReceipt' || hash !== txHash) return undefined
      return forward().then(async (reply) => {
        const answer = (await reply.json()) as { result: object }
        return Response.json({ ...answer, result: { ...answer.result, logs: [] } })
      })
    }
    await watchUntil(context, 'the alert', async () => context.raised.length > 0)
    const { id: operationId, cause } = await fixture.operationOf(task)
    expect(context.raised).toMatchObject([{ msg: 'authorization use not found', operationId, cause }])
    expect(await isWatched(task)).toBe(true)
    fixture.endpoint.intercept = undefined
    const state = async () => (await fixture.operationOf(task)).state === 'settled'
    await watchUntil(context, 'the late settlement', state)
  })

  test('stays watched while the token cannot be read', async () => {
    const context = await begin()
    const { signed, task } = await failedTake(context)
    await submitted(transferData(signed))
    fixture.endpoint.intercept = (method) =>
      method === 'eth_call' ? Promise.resolve(new Response('', { status: 503 })) : undefined
    await settleLateTakes(context, 0)
    expect(await isWatched(task)).toBe(true)
    fixture.endpoint.intercept = undefined
    const state = async () => (await fixture.operationOf(task)).state === 'settled'
    await watchUntil(context, 'the late settlement', state)
  })

  test('security: the scan passes no block that does not exist yet, whatever number an endpoint reports', async () => {
    const context = await begin()
    await followTransfers(context)
    fixture.endpoint.intercept = (method, forward, [tag]) => {
      if (method !== 'eth_getBlockByNumber' || tag !== 'finalized') return undefined
      return forward().then(async (answered) => {
        const answer = (await answered.json()) as { result: { number: string } }
        const number = numberToHex(BigInt(answer.result.number) + 100_000n)
        return Response.json({ ...answer, result: { ...answer.result, number } })
      })
    }
    for (let scan = 0; scan < 5; scan++) await followTransfers(context).catch(() => {})
    fixture.endpoint.intercept = undefined
    const next = await database.read(findCursor)
    expect(Number(next)).toBeLessThanOrEqual(Number(await chain.getBlockNumber()) + 1)
  })

  // This test comes after the others because the chain's clock cannot be set back.
  test('is watched until the window has closed by the time of a final block', async () => {
    const context = await begin()
    const { task } = await failedTake(context, 600)
    const later = { ...context, clock: () => Date.now() + 7_200_000 }
    await settleLateTakes(later, 0)
    expect(await isWatched(task)).toBe(true)
    expect(await database.read(countWatched)).toBe(1)
    await chain.increaseTime({ seconds: 3_600 })
    await watchUntil(context, 'the end of the watch', async () => !(await isWatched(task)))
    expect((await fixture.operationOf(task)).state).toBe('failed')
  })
  test('security: with a window of years is watched for an hour, and found whenever it happens', async () => {
    const context = await begin()
    const { signed, task } = await failedTake(context, 10 * 365 * 86_400)
    await followTransfers(context)
    await chain.increaseTime({ seconds: 3_600 })
    await watchUntil(context, 'the end of the watch', async () => !(await isWatched(task)))
    expect((await fixture.operationOf(task)).state).toBe('failed')
    const txHash = await submitted(transferData(signed))
    await until(async () => {
      await followTransfers(context)
      return (await fixture.operationOf(task)).state === 'settled'
    }, 'the late settlement')
    expect(await told(task.payload.payoutId)).toMatchObject([{ payload: { txHash } }])
  })
  test('security: is found although a stranger fills its block with transfers of nothing', async () => {
    const context = await begin()
    const { signed, task } = await failedTake(context, 10 * 365 * 86_400)
    await followTransfers(context)
    await chain.increaseTime({ seconds: 3_600 })
    await watchUntil(context, 'the end of the watch', async () => !(await isWatched(task)))
    fixture.endpoint.intercept = refusingLogsAbove(8)
    // From here each block holds only what the test puts into it.
    await chain.setIntervalMining({ interval: 0 })
    const [address] = await Promise.all([signed.from as Hex, chain.mine({ blocks: 1 })])
    const nothing = encodeFunctionData({
      abi: ausdAbi,
      functionName: 'transferFrom' as const,
      args: [address, treasury, 0n],
    })
    const account = privateKeyToAccount(actorKeys.budi)
    let nonce = await chain.getTransactionCount({ address: account.address })
    const place = (data: Hex) =>
      chain.sendTransaction({
        account,
        data,
        chain: null,
        gas: 500_000n,
        to: contracts.ausd,
        nonce: nonce++,
      })
    for (let sent = 0; sent < 20; sent++) await place(nothing)
    const txHash = await place(transferData(signed))
    await chain.mine({ blocks: 1 })
    const { number } = await chain.getBlock()
    const range = { fromBlock: number!, toBlock: number! }
    expect(await chain.getLogs({ address: contracts.ausd, ...range })).toHaveLength(22)
    await until(async () => {
      await chain.mine({ blocks: 1 })
      await followTransfers(context)
      return (await fixture.operationOf(task)).state === 'settled'
    }, 'the late settlement')
    expect(await told(task.payload.payoutId)).toMatchObject([{ payload: { txHash } }])
  })
})
