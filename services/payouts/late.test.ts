import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { waitUntil } from '#infra/local/wait'
import { openRig, type Rig, txHash, wallet } from './rig.test.ts'

let rig: Rig
beforeAll(async () => {
  rig = await openRig()
}, 60_000)
afterAll(() => rig?.[Symbol.asyncDispose]())

/** A cash-out whose take failed for a reason of the relayer. */
async function failed(word = 'balance_too_low'): Promise<string> {
  const { ok } = await rig.create(rig.request())
  await rig.settle('take', ok!.payoutId, word)
  await rig.until(ok!.payoutId, 'failed')
  return ok!.payoutId
}

describe('AUSD that arrives after the cash-out had failed', () => {
  test('goes back once, is never paid to the bank, and a person reads why', async () => {
    const id = await failed()
    await Promise.all([rig.settle('take', id), rig.settle('take', id)])
    expect(await rig.row(id)).toMatchObject({ state: 'returning', takeTxHash: txHash })
    await rig.settle('return', id)
    await rig.settle('take', id)
    await rig.until(id, 'returned')
    const { ok } = (await rig.activity({ wallet, limit: 1 })) as { ok: { items: object[] } }
    expect(ok.items[0]).toMatchObject({
      id,
      status: 'returned',
      reason: 'the transfer arrived after the cash-out had failed; your AUSD is returned',
    })
    const told = ['payouts.returned', 'payouts.taken', 'relay.return', 'relay.take']
    expect(await rig.sent(id)).toEqual(told)
    expect(await rig.transfers(id)).toEqual([])
    expect((await rig.row(id)).attempts).toBe(0)
  })

  test('goes back at once: the order does not wait for the sweeper', async () => {
    const id = await failed()
    await rig.settle('take', id)
    expect(await rig.orders(id, 'relay.return')).toHaveLength(1)
    expect((await rig.row(id)).looks).toBe(0)
  })

  test('before the failure was told is simply taken: the failure is no news any more', async () => {
    const id = await rig.taken()
    await rig.settle('take', id, 'balance_too_low')
    await rig.until(id, 'paid')
    expect(await rig.sent(id)).not.toContain('relay.return')
    expect(await rig.transfers(id)).toHaveLength(1)
  })
})

describe('after a take that failed', () => {
  test('the relayer is asked again and again while what was signed may still be used', async () => {
    const id = await failed()
    const ids = () => rig.orders(id, 'relay.take')
    await waitUntil('two repeats', async () => (await ids()).length >= 3)
    await rig.settle('take', id, 'balance_too_low')
    expect((await rig.row(id)).state).toBe('failed')
  })

  test('it is asked no more an hour after the window has ended', async () => {
    const id = await failed()
    await rig.lapse(id, 3_500)
    await waitUntil('a look within the hour', async () => (await rig.row(id)).looks > 0)
    expect((await rig.row(id)).lookAt).not.toBeNull()
    await rig.lapse(id, 3_700)
    await waitUntil('the last look', async () => (await rig.row(id)).lookAt === null)
    expect((await rig.row(id)).state).toBe('failed')
  })

  test.each(['authorization_expired', 'authorization_cancelled', 'authorization_used_elsewhere'])(
    'it is not asked when nobody can use what was signed: %s',
    async (word) => {
      expect((await rig.row(await failed(word))).lookAt).toBeNull()
    },
  )
})
