import { afterAll, afterEach, expect, test } from 'bun:test'
import { schemaReader } from '#platform/schema'
import { ChainTreasury } from '#shared/messages/chain'
import { answerSchema } from '#shared/messages/topic'
import type { Task } from '../operations/operation'
import { newRefId, newWallet, openFixture, until, verify } from '../test-support'
import { answersOf } from './answers'
import type { TreasuryAnswer } from './treasury'

const fixture = await openFixture()
afterAll(fixture.close)
afterEach(() => {
  fixture.endpoint.intercept = undefined
})

const ask = async (clock = fixture.context.clock) => {
  const answers = answersOf({ ...fixture.context, clock })
  const answer = answers.find(({ question }) => question === ChainTreasury)!.answer
  const fits = schemaReader(answerSchema(ChainTreasury.answer))
  return async () => {
    const said = (await answer({})) as { ok?: TreasuryAnswer; refused?: string }
    expect(fits(said)).toHaveProperty('value')
    return said
  }
}
const once = async () => (await ask())()
const credit = (wallet: `0x${string}`, ausd: string): Task => ({
  kind: 'credit',
  payload: { refId: newRefId(), wallet, ausd, held: false },
})
const somebody = async () => {
  const context = await fixture.begin()
  const { address } = await newWallet(fixture, 0n)
  const verdict = verify(address, true, 1n)
  await fixture.command(verdict)
  await fixture.finish(context, verdict)
  return { context, address }
}

test('the treasury reading includes the amount that pending orders will still take', async () => {
  const { context, address } = await somebody()
  const before = (await once()).ok!
  const whole = { balance: '1000000000', drawable: '1000000000' }
  expect(before).toMatchObject({ ...whole, ordered: '0' })

  const task = credit(address, '7000000')
  await fixture.command(task)
  expect((await once()).ok).toMatchObject({ ...whole, ordered: '7000000' })

  const { blockNumber } = await fixture.finish(context, task)
  const after = (await once()).ok!
  expect(after).toMatchObject({ balance: '993000000', ordered: '0' })
  expect(BigInt(after.blockNumber)).toBeGreaterThanOrEqual(blockNumber!)
  expect(Date.parse(after.readAt)).toBeGreaterThan(Date.parse(before.readAt))
})

test('one call of the chain serves all requests within two seconds', async () => {
  let calls = 0
  fixture.endpoint.intercept = (method) => {
    if (method === 'eth_call') calls += 1
    return undefined
  }
  const time = { now: Date.now() }
  const again = await ask(() => time.now)
  const answers = await Promise.all(Array.from({ length: 20 }, again))
  expect(new Set(answers.map(({ ok }) => ok?.readAt)).size).toBe(1)
  expect(calls).toBe(1)
  time.now += 2_001
  await again()
  expect(calls).toBe(2)
})

test('a treasury reading from before the clock was set back is read again', async () => {
  const time = { now: Date.now() }
  const again = await ask(() => time.now)
  await again()
  time.now -= 60_000
  expect((await again()).ok!.readAt).toBe(new Date(time.now).toISOString())
})

test('a failed treasury reading is refused, and the next request reads again', async () => {
  const again = await ask()
  fixture.endpoint.intercept = () => Promise.resolve(new Response('', { status: 500 }))
  expect(await again()).toEqual({ refused: 'chain_unavailable' })
  fixture.endpoint.intercept = undefined
  await until(async () => (await again()).ok, 'a reading')
})

// guard: a lagging endpoint does not determine the treasury balance
test('security: a treasury reading from an endpoint that lags behind a final credit is rejected', async () => {
  const { context, address } = await somebody()
  const stale = await fixture.chain.getBlockNumber()
  const task = credit(address, '1000000')
  await fixture.command(task)
  await fixture.finish(context, task)
  fixture.endpoint.intercept = (method, _forward, params) =>
    method === 'eth_call'
      ? fetch(fixture.rpcUrl, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            jsonrpc: '2.0',
            id: 1,
            method,
            params: [params[0], `0x${stale.toString(16)}`],
          }),
        })
      : undefined
  expect(await once()).toEqual({ refused: 'chain_unavailable' })
})
