import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { type Hex, keccak256, parseTransaction } from 'viem'
import type { Context } from '../context'
import { holdLanes } from '../lanes/held-lanes'
import type { Task } from '../operations/operation'
import { relayOnce } from '../relay-loop'
import { chainReads, linesOf, listening, newRefId, newWallet, openFixture, until } from '../test-support'
import { assignWaiting } from './assign'

const fixture = await openFixture()
afterAll(fixture.close)
afterEach(() => {
  fixture.endpoint.intercept = undefined
})
const replaced = await fixture.replaceLine()
const newLine = chainReads(fixture.chain, replaced.contracts)

/** Accepts transactions and drops those to the old credit line. */
function dropOld() {
  fixture.endpoint.intercept = (method, _, [raw]) => {
    if (method !== 'eth_sendRawTransaction') return undefined
    const { to } = parseTransaction(raw as Hex)
    if (to?.toLowerCase() !== fixture.contracts.creditLine.toLowerCase()) return undefined
    return Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, result: keccak256(raw as Hex) }))
  }
}

const isMined = async (context: Context) => {
  const [{ lane, open }] = (await holdLanes(context)) as [Awaited<ReturnType<typeof holdLanes>>[number]]
  return (await context.node.countAt(lane.address, 'latest')) > open[0]!.nonce
}

describe.each([1, 3])('%d credits that are on their way when the credit line is replaced', (count) => {
  const begin = async () => {
    const { address } = await newWallet(fixture, 0n)
    const wallet = address.toLowerCase() as Hex
    const tasks = Array.from({ length: count }, (): Task => {
      const payload = { refId: newRefId(), wallet, ausd: '1000000', held: false }
      return { kind: 'credit', payload }
    })
    for (const task of tasks) await fixture.command(task)
    const before = await fixture.begin({ bumpAfterMs: 60_000 })
    return { tasks, wallet, before }
  }
  const restart = async () => listening({ ...(await fixture.begin()), ...replaced })
  const creditedOn = async (line: Pick<typeof newLine, 'lineOf'>, wallet: Hex) => (await line.lineOf(wallet)).collateral

  test('settle if the old one executed them', async () => {
    const { tasks, wallet, before } = await begin()
    await assignWaiting(before, await holdLanes(before))
    await relayOnce(before)
    await until(() => isMined(before), 'a block')
    const after = await restart()
    for (const task of tasks) expect((await fixture.finish(after, task)).state).toBe('settled')
    expect(await creditedOn(fixture, wallet)).toBe(BigInt(count) * 1_000_000n)
    expect(await creditedOn(newLine, wallet)).toBe(0n)
    expect(linesOf(after)).toEqual([])
  })

  test('give way and go to the new one if they are in no block', async () => {
    const { tasks, wallet, before } = await begin()
    dropOld()
    await relayOnce(before)
    const after = await restart()
    for (const task of tasks) expect((await fixture.finish(after, task)).state).toBe('settled')
    expect(await creditedOn(fixture, wallet)).toBe(0n)
    expect(await creditedOn(newLine, wallet)).toBe(BigInt(count) * 1_000_000n)
    expect(linesOf(after)).toEqual([])
  })
})
