import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { waitUntil } from '#test/support/wait'
import { type Fixture, openFixture, txHash, wallet } from '../test-support'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

describe('the result from chain-relayer', () => {
  test.each([
    [
      'authorization_expired',
      'authorization_expired',
      'The signed transfer expired before it was executed. The cash-out failed. Your AUSD is still in your wallet.',
    ],
    [
      'never seen before',
      'take_failed',
      'We could not transfer your AUSD. The cash-out failed. Your AUSD is still in your wallet.',
    ],
  ])('of a failed take (%s) gives the user the reason', async (word, reason, sentence) => {
    const { ok } = await fixture.create(fixture.request())
    await fixture.relayed('take', ok!.payoutId, word)
    const answer = (await fixture.activity({ wallet, limit: 1 })) as { ok: { items: object[] } }
    expect(answer.ok.items[0]).toMatchObject({
      id: ok!.payoutId,
      status: 'failed',
      inFlight: false,
      reason,
      sentence,
    })
    expect(await fixture.transfers(ok!.payoutId)).toEqual([])
  })

  test('of a failed return keeps the AUSD owed and raises an alert', async () => {
    const id = await fixture.taken({ bank: { accountNumber: '999999' } })
    await fixture.until(id, 'returning')
    await fixture.relayed('return', id, 'reverted')
    expect(await fixture.row(id)).toMatchObject({ state: 'returning', nextCheckAt: null })
    expect((await fixture.oddities()).map(({ kind }) => kind)).toContain('return_failed')
    expect(fixture.alarms(id)).toMatchObject([{ msg: 'AUSD return failed permanently' }])
  })

  test('of a take without a cash-out raises an alert, and changes nothing', async () => {
    const id = crypto.randomUUID()
    await fixture.relayed('take', id)
    expect(fixture.alarms(id)).toMatchObject([{ msg: 'AUSD taken for unknown cash-out', txHash }])
    expect(await fixture.sent(id)).toEqual([])
  })

  test('is missing for a take: the take is ordered again, each time with a new message id', async () => {
    const { ok } = await fixture.create(fixture.request())
    const ids = () => fixture.orders(ok!.payoutId, 'relay.take')
    await waitUntil('two more orders', async () => (await ids()).length >= 3)
    expect((await fixture.row(ok!.payoutId)).state).toBe('taking')
  })

  test('is missing for a return: the return is ordered again in the same way', async () => {
    const id = await fixture.taken({ bank: { accountNumber: '999999' } })
    await waitUntil('one more', async () => (await fixture.orders(id, 'relay.return')).length >= 2)
    expect((await fixture.row(id)).state).toBe('returning')
  })
})

async function failed(word = 'balance_too_low', at = fixture): Promise<string> {
  const { ok } = await at.create(at.request())
  await at.relayed('take', ok!.payoutId, word)
  await at.until(ok!.payoutId, 'failed')
  return ok!.payoutId
}

describe('AUSD that arrives after its cash-out failed', () => {
  // guard: a late take of a failed cash-out is given back and never paid
  test('is returned once, is never paid to the bank, and the user gets the reason', async () => {
    const id = await failed()
    await Promise.all([fixture.relayed('take', id), fixture.relayed('take', id)])
    expect(await fixture.row(id)).toMatchObject({ state: 'returning', takeTxHash: txHash })
    await fixture.relayed('return', id)
    await fixture.relayed('take', id)
    await fixture.until(id, 'returned')
    const { ok } = (await fixture.activity({ wallet, limit: 1 })) as { ok: { items: object[] } }
    expect(ok.items[0]).toMatchObject({
      id,
      status: 'returned',
      reason: 'taken_late',
      sentence: 'The transfer arrived after the cash-out had failed. Your AUSD is back in your wallet.',
    })
    const told = ['payouts.returned', 'payouts.taken', 'relay.return', 'relay.take']
    expect(await fixture.sent(id)).toEqual(told)
    expect(await fixture.transfers(id)).toEqual([])
    expect((await fixture.row(id)).attempts).toBe(0)
  })

  test('is returned at once, without waiting for a check', async () => {
    await using unchecked = await openFixture({ recheckAfterMs: 60_000 })
    const id = await failed('balance_too_low', unchecked)
    await unchecked.relayed('take', id)
    expect(await unchecked.orders(id, 'relay.return')).toHaveLength(1)
    expect((await unchecked.row(id)).checks).toBe(0)
  })

  test('is an ordinary take if it is reported before the failure, which then changes nothing', async () => {
    const id = await fixture.taken()
    await fixture.relayed('take', id, 'balance_too_low')
    await fixture.until(id, 'paid')
    expect(await fixture.sent(id)).not.toContain('relay.return')
    expect(await fixture.transfers(id)).toHaveLength(1)
  })
})

describe('after a failed take', () => {
  test('the relayer is asked repeatedly while the authorization may still be used', async () => {
    const id = await failed()
    const ids = () => fixture.orders(id, 'relay.take')
    await waitUntil('two repeats', async () => (await ids()).length >= 3)
    await fixture.relayed('take', id, 'balance_too_low')
    expect((await fixture.row(id)).state).toBe('failed')
  })

  test('the relayer is not asked again an hour after the authorization expired', async () => {
    const id = await failed()
    await fixture.lapse(id, 3_500)
    await waitUntil('a check within the hour', async () => (await fixture.row(id)).checks > 0)
    expect((await fixture.row(id)).nextCheckAt).not.toBeNull()
    await fixture.lapse(id, 3_700)
    await waitUntil('the last check', async () => (await fixture.row(id)).nextCheckAt === null)
    expect((await fixture.row(id)).state).toBe('failed')
  })

  test('the relayer is asked by the last check too, which may be the first after the AUSD arrived', async () => {
    const id = await fixture.unhurried(() => failed())
    await fixture.lapse(id, 3_700)
    const before = await fixture.orders(id, 'relay.take')
    await fixture.due(id)
    await waitUntil('the last check', async () => (await fixture.row(id)).nextCheckAt === null)
    expect(await fixture.orders(id, 'relay.take')).toHaveLength(before.length + 1)
  })

  test.each(['authorization_expired', 'authorization_cancelled', 'authorization_used_elsewhere'])(
    'the relayer is not asked if the authorization is unusable: %s',
    async (word) => {
      expect((await fixture.row(await failed(word))).nextCheckAt).toBeNull()
    },
  )
})
