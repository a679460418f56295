import { afterAll, describe, expect, test } from 'bun:test'
import { raiseAlarms } from './alarms'
import type { Settings } from './context'
import { followTransfers } from './operations/treasury-transfers'
import { linesOf, listening, newNonce, newWallet, openFixture, take } from './test-support'

const fixture = await openFixture()
afterAll(fixture.close)
const { chain, treasury } = fixture

const begin = async (settings: Partial<Settings> = {}) => listening(await fixture.begin(settings))

test('the relayer raises no alert while everything is healthy', async () => {
  const context = await begin()
  await raiseAlarms(context)
  expect(linesOf(context)).toEqual([])
})

test.each([
  ['a base fee above its cap', { baseFeeCapWei: 0n }, 'base fee above its cap'],
  ['a lane that runs dry', { laneRefillWei: 10n ** 30n }, 'lane needs a refill'],
] as const)('%s raises an alert', async (_, settings, line) => {
  const context = await begin(settings)
  await raiseAlarms(context)
  expect(linesOf(context)).toEqual([line])
})

test('an operation pending for too long raises an alert', async () => {
  const { key } = await newWallet(fixture)
  const to = treasury.address
  await fixture.command(take(await fixture.sign(key, { to, value: 1n, nonce: newNonce() })))
  const context = await begin({ oldestAlarmMs: -1 })
  await raiseAlarms(context)
  expect(linesOf(context)).toEqual(['oldest operation pending too long'])
})

describe('unreadable transfers to the treasury', () => {
  /** A lag limit that the chain's own progress during the test does not reach. */
  const far = { transfersLagBlocks: 300n }
  const noLogs = (method: string) =>
    method === 'eth_getLogs' ? Promise.resolve(new Response('', { status: 503 })) : undefined

  test('security: raise an alert', async () => {
    const context = await begin(far)
    while (await followTransfers(context));
    await raiseAlarms(context)
    expect(linesOf(context)).toEqual([])
    fixture.endpoint.intercept = noLogs
    await chain.mine({ blocks: 310 })
    await expect(followTransfers(context)).rejects.toThrow()
    await raiseAlarms(context)
    expect(linesOf(context)).toEqual(['treasury transfer scan is lagging'])
    fixture.endpoint.intercept = undefined
    while (await followTransfers(context));
    const later = await begin(far)
    await raiseAlarms(later)
    expect(linesOf(later)).toEqual([])
  })
})

test('security: an endpoint that fails one request suppresses no other alert', async () => {
  const context = await begin({ oldestAlarmMs: -1 })
  fixture.endpoint.intercept = () => Promise.resolve(new Response('', { status: 503 }))
  await expect(raiseAlarms(context)).rejects.toThrow()
  fixture.endpoint.intercept = undefined
  expect(linesOf(context)).toEqual(['oldest operation pending too long'])
})

test('a chain head that does not advance raises an alert', async () => {
  const context = await begin()
  await chain.setIntervalMining({ interval: 0 })
  // The first of these heads may have been read before the last block was mined.
  for (const laterMs of [0, 31_000, 62_000]) await raiseAlarms({ ...context, clock: () => Date.now() + laterMs })
  expect(linesOf(context)).toContain('chain head has not advanced')
})
