import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { CashoutGiveUp } from '#shared/messages/payouts'
import { waitUntil } from '#test/support/wait'
import type { Context } from '../context'
import { answerOperatorCommands } from '../request/operator-commands'
import { type Detour, type Fixture, openFixture } from '../test-support'
import { faultOf } from './give-up'
import { beginAttempt, payAgain } from './pay'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

const says = (status: number, error_code: string) => Response.json({ error_code, message: 'no' }, { status })
const orders =
  (reply: () => Response): Detour =>
  (call) =>
    call.method === 'POST' && call.url.endsWith('/v2/payouts') ? reply() : undefined
const giveUpOf = (context: Context) => {
  const handlers = answerOperatorCommands(context)
  return handlers.find(({ question }) => question.subject === CashoutGiveUp.subject)!
}

/** Gives a payout up two minutes from now. */
async function giveUp(payoutId: string, other: Partial<Context> = {}): Promise<{ done?: string; refused?: string }> {
  const clock = () => fixture.context.clock() + 120_000
  const asked = { command: crypto.randomUUID(), by: 'olga', reason: 'ticket 7', payoutId }
  const { answer } = giveUpOf({ ...fixture.context, clock, ...other })
  return ((await answer(asked)) as { ok: object }).ok
}

/** Returns a cash-out whose order got `reply`, and which is not ordered again. */
async function ordered(reply: () => Response): Promise<string> {
  let replies = 0
  const counted = () => {
    replies++
    return reply()
  }
  return fixture.unhurried(() =>
    fixture.detoured(orders(counted), async () => {
      const id = await fixture.taken()
      await waitUntil('a reply to its order', () => replies === 1)
      return id
    }),
  )
}
/** Answers each order with the error that the provider keeps under its key. */
const keepsItsError = () => says(409, 'DUPLICATE_ERROR')

describe('a payout that was ordered and that the provider does not have', () => {
  // Some providers keep an error under an idempotency key, and repeat it for ever.
  test('is given up by an operator: its AUSD is returned once, and no bank is paid', async () => {
    const id = await ordered(keepsItsError)
    await waitUntil('the alert', () => fixture.alarms(id).length > 0)
    expect(await giveUp(id)).toEqual({ done: `the payout of ${id} is given up, and its AUSD is being returned` })
    expect(await fixture.row(id)).toMatchObject({
      state: 'returning',
      reason: 'provider_refused',
      failureCode: 'GIVEN_UP',
    })
    expect(await giveUp(id)).toEqual({ done: `the payout of ${id} was given up, and its AUSD is returning` })
    await fixture.relayed('return', id)
    await fixture.until(id, 'returned')
    // A slow machine orders the return several times, which the relayer does once.
    expect(await fixture.orders(id, 'relay.return')).not.toBeEmpty()
    expect(await fixture.transfers(id)).toEqual([])
  })

  test('is given up once by two operators at once, who are both told so', async () => {
    const id = await ordered(keepsItsError)
    for (const { done } of await Promise.all([giveUp(id), giveUp(id)])) expect(done).toContain(`the payout of ${id} `)
    expect((await fixture.row(id)).state).toBe('returning')
  })

  test('is given up if the provider had told of it, and does not know it any more', async () => {
    const gone: Detour = (call, onward) => {
      if (call.method !== 'GET' || !call.url.includes('/v2/payouts')) return onward()
      return call.url.includes('reference_id')
        ? Response.json({ has_more: false, data: [] })
        : says(404, 'DATA_NOT_FOUND')
    }
    const id = await fixture.taken({ bank: { accountNumber: '141414' } })
    await waitUntil('a payout', async () => (await fixture.row(id)).providerPayoutId !== null)
    // Until the detour, the provider may report a newer status.
    await fixture.detoured(gone, () => waitUntil('its end', async () => 'done' in (await giveUp(id))))
    expect(await fixture.row(id)).toMatchObject({ state: 'returning', failureCode: 'GIVEN_UP' })
    await fixture.relayed('return', id)
    await fixture.until(id, 'returned')
  })

  test('is an alert if it was made after all', async () => {
    const id = await ordered(() => says(500, 'SERVER_ERROR'))
    await giveUp(id)
    await fixture.relayed('return', id)
    await fixture.until(id, 'returned')
    const channel_properties = { account_number: '1234567890', account_holder_name: 'Sari Dewi' }
    const order = { reference_id: id, channel_code: 'ID_BCA', channel_properties, amount: 81_250, currency: 'IDR' }
    await fixture.provide('/v2/payouts', order, { 'Idempotency-key': id })
    await waitUntil('the alert', async () => fixture.alarms(id).some(({ kind }) => kind === 'paid_and_returned'))
    expect((await fixture.row(id)).state).toBe('returned')
  })

  test('counts as given, because it may have been made', async () => {
    const id = await ordered(() => says(500, 'SERVER_ERROR'))
    const { ausdMicro, wallet } = await fixture.row(id)
    const { worth } = giveUpOf(fixture.context)
    expect(await worth!({ payoutId: id } as never)).toEqual({ micro: ausdMicro, to: wallet, seen: '' })
    expect(await worth!({ payoutId: crypto.randomUUID() } as never)).toBeUndefined()
    await fixture.due(id)
    await fixture.until(id, 'paid')
  })
})

describe('a payout is not given up', () => {
  // guard: a payout that the provider has is not given up
  test('if a look-up finds it, which it then follows', async () => {
    const onlyAnswerLost: Detour = async (call, onward) => {
      if (call.method !== 'POST' || !call.url.endsWith('/v2/payouts')) return undefined
      await onward()
      return says(500, 'SERVER_ERROR')
    }
    const unheard = await openFixture({ webhooks: false })
    const id = await unheard.unhurried(() =>
      unheard.detoured(onlyAnswerLost, async () => {
        const taken = await unheard.taken()
        await waitUntil('an attempt', async () => (await unheard.row(taken)).attempts === 1)
        return taken
      }),
    )
    const clock = () => unheard.context.clock() + 120_000
    const asked = { command: crypto.randomUUID(), by: 'olga', reason: 'ticket 7', payoutId: id }
    expect(await giveUpOf({ ...unheard.context, clock }).answer(asked)).toEqual({
      ok: { refused: `the provider has the payout of ${id}: it is followed` },
    })
    expect((await unheard.row(id)).providerPayoutId).toEqual(expect.any(String))
    await unheard.due(id)
    await unheard.until(id, 'paid')
    await unheard[Symbol.asyncDispose]()
  })

  // guard: nothing is returned while a later attempt may be accepted
  test('if it was ordered again meanwhile', async () => {
    const id = await ordered(() => says(500, 'SERVER_ERROR'))
    const { provider } = fixture.context
    const findByReference: typeof provider.findByReference = async (...asked) => {
      const found = await provider.findByReference(...asked)
      await beginAttempt(fixture.context, { id: id })
      return found
    }
    expect(await giveUp(id, { provider: { ...provider, findByReference } })).toEqual({
      refused: `${id} has just changed: look again`,
    })
    await fixture.due(id)
    await fixture.until(id, 'paid')
    expect(await fixture.transfers(id)).toHaveLength(1)
  })

  // guard: nothing is returned for a payout that has become known since it was looked up
  test.each([
    ['is being made', '141414', 'paying'],
    ['was paid', '1234567890', 'paid'],
  ] as const)('if another instance learns after the look-up that it %s', async (_, account_number, state) => {
    const id = await ordered(() => says(500, 'SERVER_ERROR'))
    const { provider } = fixture.context
    const findByReference: typeof provider.findByReference = async (...asked) => {
      const found = await provider.findByReference(...asked)
      const channel_properties = { account_number, account_holder_name: 'Sari Dewi' }
      const order = { reference_id: id, channel_code: 'ID_BCA', channel_properties, amount: 81_250, currency: 'IDR' }
      await fixture.provide('/v2/payouts', order, { 'Idempotency-key': id })
      await waitUntil('news of the payout', async () => {
        await payAgain(fixture.context, await fixture.row(id))
        return (await fixture.row(id)).state === state
      })
      return found
    }
    expect(await giveUp(id, { provider: { ...provider, findByReference } })).toEqual({
      refused: `${id} has just changed: look again`,
    })
    expect([(await fixture.row(id)).state, await fixture.orders(id, 'relay.return')]).toEqual([state, []])
  })

  test('if the provider cannot be read', async () => {
    const id = await ordered(() => says(500, 'SERVER_ERROR'))
    await fixture.detoured(
      () => says(500, 'SERVER_ERROR'),
      async () => {
        await expect(giveUp(id)).rejects.toThrow()
      },
    )
    expect((await fixture.row(id)).state).toBe('paying')
    await fixture.due(id)
    await fixture.until(id, 'paid')
  })

  test('if it is paid, or not ordered, or nobody knows it', async () => {
    const { id } = await fixture.until(await fixture.taken(), 'paid')
    expect(await giveUp(id)).toEqual({ refused: `${id} is paid: only a payout that was ordered can be given up` })
    const { ok } = await fixture.create(fixture.request())
    expect(await giveUp(ok!.payoutId)).toEqual({ refused: expect.stringContaining('is taking') })
    const nobody = crypto.randomUUID()
    expect(await giveUp(nobody)).toEqual({ refused: `there is no cash-out ${nobody}` })
  })

  // guard: a payout is not given up before a look-up would show it
  test('within a minute of its last order', () => {
    const attemptedAt = new Date('2026-11-29T10:00:00Z')
    const after = (ms: number) => faultOf({ state: 'paying', attemptedAt }, attemptedAt.getTime() + ms)
    expect([after(59_999), after(60_000)]).toEqual(['was ordered a moment ago: wait a minute', undefined])
    expect(faultOf({ state: 'paying', attemptedAt: null }, 0)).toBeUndefined()
  })
})
