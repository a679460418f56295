import { afterAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import pino from 'pino'
import { encodeFunctionData, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { actorKeys } from '#infra/contracts/stage'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { idFor } from '#shared/ids'
import type { Relayer } from './relayer'
import { openStage, until } from './rig/stage'
import { newNonce, newWallet, stranger, take, transferData } from './rig/wallets'
import { outbox } from './schema.store'
import { watchOnce } from './watch'
import { countWatched } from './watch.store'

const stage = await openStage()
afterAll(stage.close)
const { chain, contracts, database } = stage
const treasury = stage.treasury.address

/** A life whose alarms can be read. */
async function begin() {
  const alarms: string[] = []
  const write = (line: string) => {
    const { alarm, msg } = JSON.parse(line)
    if (alarm) alarms.push(msg)
  }
  const relayer: Relayer = { ...(await stage.begin()), log: pino({ level: 'info' }, { write }) }
  return { relayer, alarms }
}

/** A take that failed because the wallet was empty; it holds enough again afterwards. */
async function failedTake(relayer: Relayer, forSeconds?: number) {
  const { key, address } = await newWallet(stage, 0n)
  const nonce = newNonce()
  const signed = await stage.sign(key, { to: treasury, value: 4_000_000n, nonce, forSeconds })
  const task = take(signed)
  await stage.command(task)
  const failed = await stage.finish(relayer, task)
  expect(failed).toMatchObject({ state: 'failed', reason: 'balance_too_low' })
  await stage.mint(address, 10_000_000n)
  return { key, address, signed, task }
}
const submitted = (data: Hex) => stage.submit(actorKeys.budi, contracts.ausd, data)
const watchUntil = (relayer: Relayer, what: string, fact: () => Promise<unknown>) =>
  until(async () => {
    await watchOnce(relayer, 0)
    return fact()
  }, what)
const told = (cause: string) =>
  database.read((db) =>
    db
      .select()
      .from(outbox)
      .where(eq(outbox.id, idFor('message', `relay.take.settled:${cause}`))),
  )
const isWatched = async (task: ReturnType<typeof take>) =>
  (await stage.operationOf(task)).watchAt !== null

describe('a take that failed', () => {
  test('and is put on the chain by somebody else is settled late, when it is final', async () => {
    const { relayer, alarms } = await begin()
    const { signed, task } = await failedTake(relayer)
    await watchOnce(relayer, 0)
    expect(await told(task.payload.payoutId)).toEqual([])
    const txHash = await submitted(transferData(signed))
    const state = async () => (await stage.operationOf(task)).state === 'settled'
    await watchUntil(relayer, 'the late settlement', state)
    const settled = await stage.operationOf(task)
    expect(settled).toMatchObject({ txHash, reason: 'balance_too_low', watchAt: null })
    const { number } = await chain.getBlock({ blockTag: 'finalized' })
    expect(settled.blockNumber! <= number!).toBe(true)
    expect(await told(task.payload.payoutId)).toMatchObject([
      { payload: { cause: task.payload.payoutId, txHash } },
    ])
    expect(alarms).toEqual([])
  })

  test('is found by the next life when the transfer came while nobody watched', async () => {
    const { signed, task } = await failedTake((await begin()).relayer)
    await submitted(transferData(signed))
    const state = async () => (await stage.operationOf(task)).state === 'settled'
    await watchUntil((await begin()).relayer, 'the late settlement', state)
  })

  test('and settled late says so, and no more that it failed, when it is ordered again', async () => {
    const { relayer } = await begin()
    const { signed, task } = await failedTake(relayer)
    const txHash = await submitted(transferData(signed))
    await watchUntil(relayer, 'the end of the watch', async () => !(await isWatched(task)))
    await stage.command(task)
    expect(await told(`${task.payload.payoutId}:1`)).toMatchObject([{ payload: { txHash } }])
  })

  test('security: and whose nonce moved other money stays failed, and calls a person', async () => {
    const { relayer, alarms } = await begin()
    const { key, signed, task } = await failedTake(relayer)
    const nonce = signed.nonce as Hex
    await submitted(transferData(await stage.sign(key, { to: stranger, value: 1n, nonce })))
    await watchUntil(relayer, 'the end of the watch', async () => !(await isWatched(task)))
    expect((await stage.operationOf(task)).state).toBe('failed')
    expect(await told(task.payload.payoutId)).toEqual([])
    expect(alarms).toEqual(['authorization of a failed take used elsewhere'])
  })

  test('and was cancelled by its wallet stays failed, and calls nobody', async () => {
    const { relayer, alarms } = await begin()
    const { key, address, signed, task } = await failedTake(relayer)
    const nonce = signed.nonce as Hex
    const signature = await privateKeyToAccount(key).signTypedData({
      domain: contracts.domain,
      types: {
        CancelAuthorization: [
          { name: 'authorizer', type: 'address' },
          { name: 'nonce', type: 'bytes32' },
        ],
      },
      primaryType: 'CancelAuthorization',
      message: { authorizer: address, nonce },
    })
    const args = [address, nonce, signature] as const
    await submitted(encodeFunctionData({ abi: ausdAbi, functionName: 'cancelAuthorization', args }))
    await watchUntil(relayer, 'the end of the watch', async () => !(await isWatched(task)))
    expect((await stage.operationOf(task)).state).toBe('failed')
    expect(alarms).toEqual([])
  })

  test('security: is settled late for one payout alone, however many name its transfer', async () => {
    const { relayer } = await begin()
    const { signed, task } = await failedTake(relayer)
    const second = take(signed)
    await stage.command(second)
    await submitted(transferData(signed))
    await watchUntil(relayer, 'the end of the watch', async () => !(await isWatched(task)))
    expect((await stage.operationOf(task)).state).toBe('settled')
    const other = await stage.operationOf(second)
    expect(other).toMatchObject({ state: 'failed', reason: 'authorization_conflict' })
    expect(other.watchAt).toBeNull()
  })

  test('stays watched while the token cannot be read', async () => {
    const { relayer } = await begin()
    const { signed, task } = await failedTake(relayer)
    await submitted(transferData(signed))
    stage.liar.interfere = (method) =>
      method === 'eth_call' ? Promise.resolve(new Response('', { status: 503 })) : undefined
    await watchOnce(relayer, 0)
    expect(await isWatched(task)).toBe(true)
    stage.liar.interfere = undefined
    const state = async () => (await stage.operationOf(task)).state === 'settled'
    await watchUntil(relayer, 'the late settlement', state)
  })

  // The last one: the chain's clock does not go back.
  test('is watched until the window has closed by the time of a final block', async () => {
    const { relayer } = await begin()
    const { task } = await failedTake(relayer, 600)
    const later = { ...relayer, clock: () => Date.now() + 7_200_000 }
    await watchOnce(later, 0)
    expect(await isWatched(task)).toBe(true)
    expect(await database.read(countWatched)).toBe(1)
    await chain.increaseTime({ seconds: 3_600 })
    await watchUntil(relayer, 'the end of the watch', async () => !(await isWatched(task)))
    expect((await stage.operationOf(task)).state).toBe('failed')
  })
})
