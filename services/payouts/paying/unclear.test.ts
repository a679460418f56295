import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { waitUntil } from '#test/support/wait'
import { type Detour, type Fixture, openFixture } from '../test-support'
import { beginAttempt } from './pay'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

const says = (status: number, error_code: string) => Response.json({ error_code, message: 'no' }, { status })
const orders: (reply: () => Response) => Detour = (reply) => (call) => (call.method === 'POST' ? reply() : undefined)
const lookUps: (reply: () => Response) => Detour = (reply) => (call) =>
  call.method === 'GET' && call.url.includes('/v2/payouts') ? reply() : undefined
const attempts = (id: string, least: number) =>
  waitUntil(`${least} attempts`, async () => {
    const row = await fixture.row(id)
    return row.attempts >= least && row
  })
const anomaliesOf = async (id: string) =>
  (await fixture.oddities()).filter(({ payoutId }) => payoutId === id).map(({ kind }) => kind)

describe('a refusal that does not concern this order returns nothing:', () => {
  test.each([
    [403, 'UNAUTHORIZED_SENDER_IP', 'an address that is not on the allow-list'],
    [403, 'REQUEST_FORBIDDEN_ERROR', 'a key without the permission'],
    [401, 'INVALID_API_KEY', 'a key that is not theirs'],
    [403, 'INVALID_MERCHANT_SETTINGS', 'an account that is not set up'],
    [404, 'DATA_NOT_FOUND', 'a path that is gone'],
    [400, 'CANCELLATION_NOT_ALLOWED', 'a word about something else'],
    [403, 'A_NEW_WORD', 'an unknown error code'],
  ])('%i %s, %s', async (status, code) => {
    const id = await fixture.detoured(
      orders(() => says(status, code)),
      async () => {
        const taken = await fixture.taken()
        expect((await attempts(taken, 2)).state).toBe('paying')
        await waitUntil('the alert', () => fixture.alarms(taken).length > 0)
        return taken
      },
    )
    expect(await anomaliesOf(id)).toEqual(['provider_refuses'])
    expect(fixture.alarms(id)).toMatchObject([{ msg: 'payout needs manual review' }])
    await fixture.due(id)
    await fixture.until(id, 'paid')
    expect(await fixture.sent(id)).not.toContain('relay.return')
    expect(await fixture.transfers(id)).toHaveLength(1)
  })

  test('a busy response in other words: the payout is ordered again, without an alert', async () => {
    const busy = () => says(400, 'TEMPORARILY_UNAVAILABLE')
    const id = await fixture.detoured(orders(busy), async () => {
      const taken = await fixture.taken()
      await attempts(taken, 2)
      return taken
    })
    await fixture.until(id, 'paid')
    expect(fixture.alarms(id)).toEqual([])
  })
})

describe('a failed look-up returns nothing:', () => {
  const other = { id: 'disb-other', reference_id: 'other', status: 'FAILED', amount: 1 }
  const cases: [string, () => Response, boolean][] = [
    ['400 to an id or a reference of ours', () => says(400, 'API_VALIDATION_ERROR'), true],
    ['403 from an address they do not know', () => says(403, 'UNAUTHORIZED_SENDER_IP'), true],
    ['404 to the list of a reference', () => says(404, 'DATA_NOT_FOUND'), true],
    ['500', () => says(500, 'SERVER_ERROR'), false],
    ['a first page of more', () => Response.json({ has_more: true, data: [] }), false],
    // guard: only one response means that a reference has no payouts
    ['an empty array', () => Response.json([]), false],
    [
      'payouts of another reference',
      () => Response.json({ has_more: false, data: [{ ...other, currency: 'IDR' }] }),
      false,
    ],
  ]
  test.each(cases)('%s', async (_, reply, alarmed) => {
    const refused = () => says(400, 'RECIPIENT_ACCOUNT_NUMBER_ERROR')
    const detour: Detour = (call, onward) => orders(refused)(call, onward) ?? lookUps(reply)(call, onward)
    const id = await fixture.detoured(detour, async () => {
      const taken = await fixture.taken()
      // No check may still be running when the provider answers again.
      await waitUntil('checks in vain', async () => {
        const { checks } = await fixture.row(taken)
        return checks > 1 && fixture.unclear(taken).length > checks
      })
      expect((await fixture.row(taken)).attempts).toBe(1)
      return taken
    })
    expect(await fixture.sent(id)).not.toContain('relay.return')
    expect(await anomaliesOf(id)).toEqual(alarmed ? ['provider_refuses'] : [])
    expect(fixture.alarms(id)).toHaveLength(alarmed ? 1 : 0)
    await fixture.due(id)
    await fixture.until(id, 'paid')
  })

  test('404 for a known payout: the cash-out stays, and an alert is raised', async () => {
    const id = await fixture.taken({ bank: { accountNumber: '141414' } })
    await waitUntil('a payout', async () => (await fixture.row(id)).providerPayoutId !== null)
    await fixture.detoured(
      lookUps(() => says(404, 'DATA_NOT_FOUND')),
      async () => {
        await waitUntil('an alarm', () => fixture.alarms(id).length > 0)
      },
    )
    expect(await anomaliesOf(id)).toEqual(['payout_lost'])
    expect((await fixture.row(id)).state).toBe('paying')
  })
})

describe('a response about a payout of ours under another reference', () => {
  test.each([
    ['none', () => null],
    ['one of nobody', () => 'nobody'],
    ['that of another cash-out', (other: string) => other],
  ])('changes and books nothing: %s', async (_, referenceOf) => {
    const other = await fixture.detoured(
      orders(() => says(500, 'SERVER_ERROR')),
      async () => {
        const taken = await fixture.taken()
        await attempts(taken, 1)
        return taken
      },
    )
    const id = await fixture.taken()
    const { providerPayoutId } = await fixture.until(id, 'paid')
    const before = (await fixture.oddities()).length
    let asked = 0
    const wrong: Detour = async (call, onward) => {
      if (!call.url.endsWith(providerPayoutId!)) return undefined
      asked++
      const body = (await (await onward()).json()) as object
      return Response.json({ ...body, reference_id: referenceOf(other) })
    }
    await fixture.detoured(wrong, async () => {
      await fixture.due(id)
      await waitUntil('a check', () => asked > 1)
    })
    expect(await fixture.oddities()).toHaveLength(before)
    expect(await fixture.booked(providerPayoutId!)).toEqual([])
    await fixture.until(other, 'paid')
  })
})

describe('with two payouts of one reference', () => {
  const order = (id: string, account_number: string) => ({
    reference_id: id,
    channel_code: 'ID_BCA',
    amount: 81_250,
    currency: 'IDR',
    channel_properties: { account_number, account_holder_name: 'Sari Dewi' },
  })
  const failure = (payoutId: string) => JSON.stringify({ event: 'payout.failed', data: { id: payoutId } })

  // guard: of two payouts, the one that may still reach the bank decides
  test('the cash-out follows the one that may still reach the bank, not the failed one', async () => {
    await using quiet = await openFixture({ webhooks: false })
    const { ok } = await quiet.create(quiet.request())
    const id = ok!.payoutId
    await quiet.provide('/v2/payouts', order(id, '141414'), { 'Idempotency-key': 'another' })
    await quiet.provide('/v2/payouts', order(id, '999999'), { 'Idempotency-key': id })
    await waitUntil('one that failed', async () =>
      (await quiet.transfers(id)).some(({ status }) => status === 'FAILED'),
    )
    await quiet.relayed('take', id)
    await quiet.until(id, 'paying')
    await waitUntil('a payout', async () => (await quiet.row(id)).providerPayoutId !== null)
    expect(await quiet.sent(id)).not.toContain('relay.return')
    await quiet.control(`payouts/${(await quiet.row(id)).providerPayoutId}/succeed`, {})
    await quiet.until(id, 'paid')
  })

  test.each([
    // guard: a failed payout returns nothing before its reference is looked up
    ['a delivery', (quiet: Fixture, payoutId: string) => quiet.deliver('ID', failure(payoutId), 'f')],
    ['the list', (quiet: Fixture) => quiet.list()],
  ])('%s about the failed one returns nothing before the other is known', async (_, tell) => {
    await using quiet = await openFixture({ recheckAfterMs: 60_000, webhooks: false })
    const { ok } = await quiet.create(quiet.request())
    const id = ok!.payoutId
    await quiet.provide('/v2/payouts', order(id, '141414'), { 'Idempotency-key': 'another' })
    await quiet.provide('/v2/payouts', order(id, '999999'), { 'Idempotency-key': id })
    const failed = await waitUntil('one that failed', async () =>
      (await quiet.transfers(id)).find(({ status }) => status === 'FAILED'),
    )
    await quiet.detoured(
      orders(() => says(500, 'SERVER_ERROR')),
      async () => {
        await quiet.relayed('take', id)
        await waitUntil('an attempt', async () => (await quiet.row(id)).attempts > 0)
        await tell(quiet, failed.id)
      },
    )
    const { state, providerPayoutId } = await quiet.row(id)
    expect({ state, isOther: providerPayoutId !== failed.id }).toEqual({
      state: 'paying',
      isOther: true,
    })
    expect(await quiet.sent(id)).not.toContain('relay.return')
  })
})

describe('a payout attempt', () => {
  test('is counted with the time since the previous one, also by another instance', async () => {
    const id = await fixture.detoured(
      orders(() => says(500, 'SERVER_ERROR')),
      async () => {
        const taken = await fixture.taken()
        await attempts(taken, 1)
        const again = await beginAttempt(fixture.context, { id: taken })
        expect(again!.sincePreviousMs).toBeLessThan(60_000)
        return taken
      },
    )
    await fixture.until(id, 'paid')
    expect(await beginAttempt(fixture.context, { id })).toBeUndefined()
  })

  // guard: an attempt is counted only while the cash-out may be paid
  test('is not counted once the refused order was given back', async () => {
    const refused = orders(() => says(400, 'RECIPIENT_ACCOUNT_NUMBER_ERROR'))
    const { id, providerPayoutId } = await fixture.unhurried(() =>
      fixture.detoured(refused, async () => fixture.until(await fixture.taken(), 'returning')),
    )
    expect(providerPayoutId).toBeNull()
    expect(await beginAttempt(fixture.context, { id })).toBeUndefined()
  })

  // guard: an attempt is committed before the provider is called
  test('is committed before it is sent to the provider', async () => {
    const counted: number[] = []
    const detour: Detour = async (call) => {
      const id = call.headers.get('idempotency-key')
      if (id) counted.push((await fixture.row(id)).attempts)
      return undefined
    }
    await fixture.detoured(detour, async () => fixture.until(await fixture.taken(), 'paid'))
    expect(counted).not.toBeEmpty()
    expect(counted).not.toContain(0)
  })

  // guard: nothing is returned while a later attempt may be accepted
  test('refused during a later attempt returns nothing', async () => {
    let asked = 0
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    // The first response is late; another instance has ordered again by then, with success.
    const detour: Detour = async (call) => {
      if (call.method !== 'POST' || ++asked > 1) return undefined
      await held
      return says(400, 'CHANNEL_CODE_NOT_SUPPORTED')
    }
    await fixture.detoured(detour, async () => {
      const { ok } = await fixture.create(fixture.request({ bank: { accountNumber: '141414' } }))
      const id = ok!.payoutId
      await fixture.relayed('take', id)
      await waitUntil('the first order', () => asked > 0)
      await beginAttempt(fixture.context, { id: id })
      release()
      await waitUntil('a payout', async () => (await fixture.row(id)).providerPayoutId !== null)
      expect(await fixture.sent(id)).not.toContain('relay.return')
    })
  })
})
