import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { position } from '#shared/ledger/position'
import { waitUntil } from '#test/support/wait'
import { recordCashout } from '../cashout.store'
import type { PayoutChannel } from '../provider'
import { type Detour, type Fixture, openFixture, wallet } from '../test-support'
import { payTaken } from './pay'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

const faults = (api: object, webhooks: object = {}) => fixture.control('faults', { api, webhooks })
const calm = () => faults({ errorRate: 0, timeoutAfterAccept: 0 }, { drop: 0, duplicate: 0 })

const change = (id: string, set: Parameters<typeof recordCashout>[2]) =>
  fixture.database.transaction((tx) => recordCashout(tx, id, set))
/** Takes a cash-out that no check pays. */
async function takenApart(): Promise<string> {
  const { payoutId } = (await fixture.create(fixture.request())).ok!
  await change(payoutId, { state: 'taken', nextCheckAt: null })
  return payoutId
}

describe('a taken cash-out', () => {
  test('is paid once and announced', async () => {
    const { id, ...row } = await fixture.unhurried(async () => fixture.until(await fixture.taken(), 'paid'))
    expect(row).toMatchObject({ attempts: 1, providerStatus: 'SUCCEEDED' })
    expect(await fixture.transfers(id)).toMatchObject([
      { idempotency_key: id, amount: 81_250, description: `AUSD ${id.slice(0, 8)}` },
    ])
    expect(await fixture.sent(id)).toEqual(['payouts.paid', 'payouts.taken', 'relay.take'])
  })

  test.each([
    ['123456', 'bank_unavailable', 'TEMPORARY_TRANSFER_ERROR'],
    ['999999', 'bank_refused', 'REJECTED_BY_CHANNEL'],
    ['121212', 'account_unknown', 'INVALID_DESTINATION'],
  ])('refused by the bank (%s) is returned once', async (accountNumber, reason, failureCode) => {
    const id = await fixture.taken({ bank: { accountNumber } })
    expect(await fixture.until(id, 'returning')).toMatchObject({ reason, failureCode })
    await fixture.relayed('return', id)
    await fixture.relayed('return', id)
    await fixture.until(id, 'returned')
    expect(await fixture.sent(id)).toEqual(['payouts.returned', 'payouts.taken', 'relay.return', 'relay.take'])
  })

  test('reversed by the bank after its payment is returned to the user', async () => {
    const id = await fixture.taken()
    const { providerPayoutId } = await fixture.until(id, 'paid')
    await fixture.control(`payouts/${providerPayoutId}/reverse`, {})
    const row = await fixture.until(id, 'returning')
    expect(row).toMatchObject({ reason: 'bank_reversed', providerStatus: 'REVERSED' })
    expect(await fixture.sent(id)).toContain('payouts.paid')
  })

  test('cancelled at the provider without a webhook is returned', async () => {
    const id = await fixture.taken({ bank: { accountNumber: '131313' } })
    const paying = await waitUntil('an accepted payout', async () => {
      const row = await fixture.row(id)
      return row.providerPayoutId !== null && row
    })
    await fixture.provide(`/v2/payouts/${paying.providerPayoutId}/cancel`, {})
    const row = await fixture.until(id, 'returning')
    expect(row).toMatchObject({ reason: 'cancelled', providerStatus: 'CANCELLED' })
  })

  // guard: a payout that became known is followed, and none is ordered beside it
  test('of which a payout became known since it was read is not paid beside it', async () => {
    const ordered: string[] = []
    const detour: Detour = async (call) => {
      if (call.method === 'POST') ordered.push(call.url)
      return undefined
    }
    const before = await fixture.row(await takenApart())
    const { id } = before
    await change(id, { providerPayoutId: 'disb-1' })
    await fixture.detoured(detour, () => payTaken(fixture.context, before))
    expect(ordered).toEqual([])
    expect(await fixture.row(id)).toMatchObject({ state: 'taken', attempts: 0 })
    await change(id, { providerPayoutId: null })
    await fixture.detoured(detour, () => payTaken(fixture.context, before))
    expect(ordered).toHaveLength(1)
    expect(await fixture.row(id)).toMatchObject({ attempts: 1 })
  })

  test('read by two instances at once is paid by one of them', async () => {
    const before = await fixture.row(await takenApart())
    const { id } = before
    await Promise.all([1, 2].map(() => payTaken(fixture.context, before)))
    expect(await fixture.transfers(id)).toHaveLength(1)
    expect(await fixture.row(id)).toMatchObject({ attempts: 1 })
  })

  test('reported twice as taken is paid once', async () => {
    const id = await fixture.taken()
    await fixture.relayed('take', id)
    await fixture.until(id, 'paid')
    await fixture.relayed('take', id)
    expect(await fixture.transfers(id)).toHaveLength(1)
    expect((await fixture.row(id)).state).toBe('paid')
  })
})

describe('an unclear response of the provider to an order', () => {
  test.each([
    // guard: a payout keeps one idempotency key
    // together with: a payout is looked up before it is ordered again
    ['time-outs after it accepted', { timeoutAfterAccept: 1 }, 1, { replays: 0 }],
    // A request may still be in progress when the next check finds nothing and retries with the same key.
    ['500 to everything', { errorRate: 1 }, 0, {}],
  ])('(%s) is resolved only by evidence, with one transfer', async (_, api, accepted, transfer) => {
    await faults(api, { drop: 1 })
    const { id, state } = await fixture.unhurried(async () => {
      const taken = await fixture.taken()
      return waitUntil('an attempt', async () => {
        const row = await fixture.row(taken)
        const { length } = await fixture.transfers(taken)
        return row.attempts > 0 && length === accepted && row
      })
    })
    expect(state).toBe('paying')
    await faults({ errorRate: 0, timeoutAfterAccept: 0 }, { drop: 1 })
    await waitUntil('its payment', async () => {
      if ((await fixture.row(id)).state === 'paid') return true
      await fixture.due(id) // A round that began before may postpone the check again.
      return false
    })
    expect(await fixture.transfers(id)).toMatchObject([transfer])
    await calm()
  })

  test('cash-outs without webhooks reach the same end by checks of the provider', async () => {
    await faults({}, { drop: 1 })
    const [paid, refused] = [await fixture.taken(), await fixture.taken({ bank: { accountNumber: '999999' } })]
    await fixture.until(paid, 'paid')
    await fixture.until(refused, 'returning')
    await calm()
  })
})

describe('an order that the provider does not accept', () => {
  const limits = { minMinor: 1n, maxMinor: 10n ** 12n, incrementMinor: 1n }
  const anyBank: PayoutChannel = { code: 'any', name: 'Any', ...limits, accountDigits: [1, 20] }
  const order = (id: string, change: object = {}) => ({
    reference_id: id,
    channel_code: 'ID_BCA',
    channel_properties: { account_number: '1234567890', account_holder_name: 'Sari Dewi' },
    amount: 81_250,
    currency: 'IDR',
    ...change,
  })

  test('is returned when it is refused at once and the provider has no such payout', async () => {
    const asked = fixture.request({ bank: { channelCode: 'ID_NOWHERE' } })
    const { channels: listed } = fixture.context
    const channels = { ...listed, find: async () => anyBank }
    const { ok } = await fixture.create(asked, { channels })
    const row = await fixture.unhurried(async () => {
      await fixture.relayed('take', ok!.payoutId)
      return fixture.until(ok!.payoutId, 'returning')
    })
    expect(row).toMatchObject({ reason: 'provider_refused', attempts: 1 })
    expect(row.failureCode).toBe('CHANNEL_CODE_NOT_SUPPORTED')
    expect(await fixture.transfers(ok!.payoutId)).toEqual([])
  })

  test('stays unclear and raises an alert while another order has its key', async () => {
    const { ok } = await fixture.create(fixture.request())
    const id = ok!.payoutId
    await fixture.provide('/v2/payouts', order('somebody else'), { 'Idempotency-key': id })
    await fixture.relayed('take', id)
    await waitUntil('more attempts', async () => (await fixture.row(id)).attempts > 1)
    expect((await fixture.row(id)).state).toBe('paying')
    await waitUntil('the alert', async () =>
      (await fixture.oddities()).some(({ kind, object }) => kind === 'key_taken' && object === id),
    )
    expect(await fixture.sent(id)).not.toContain('relay.return')
  })

  test('is recognised by its reference when another body of ours has its key', async () => {
    const { ok } = await fixture.create(fixture.request())
    const id = ok!.payoutId
    await fixture.provide('/v2/payouts', order(id, { description: 'old' }), {
      'Idempotency-key': id,
    })
    await fixture.relayed('take', id)
    await fixture.until(id, 'paid')
    expect(await fixture.transfers(id)).toHaveLength(1)
  })

  test('stays unpaid if the provider has another amount under its key', async () => {
    const { ok } = await fixture.create(fixture.request())
    const id = ok!.payoutId
    await fixture.provide('/v2/payouts', order(id, { amount: 99_999 }), { 'Idempotency-key': id })
    await fixture.relayed('take', id)
    await waitUntil('an anomaly', async () =>
      (await fixture.oddities()).some(({ kind, payoutId }) => kind === 'payout_differs' && payoutId === id),
    )
    // The payout's webhook may come before the order, or even before the take.
    await fixture.until(id, 'paying')
    expect(await fixture.transfers(id)).toHaveLength(1)
    expect(await fixture.sent(id)).not.toContain('relay.return')
  })

  // The runbook has the provider reverse such a payout.
  test('gives its AUSD back once the provider has reversed the payout of another amount', async () => {
    const { ok } = await fixture.create(fixture.request())
    const id = ok!.payoutId
    await fixture.provide('/v2/payouts', order(id, { amount: 99_999 }), { 'Idempotency-key': id })
    await fixture.relayed('take', id)
    await fixture.until(id, 'paying')
    const paid = await waitUntil('a paid payout', async () => {
      const [one] = await fixture.transfers(id)
      return one?.status === 'SUCCEEDED' && one
    })
    await waitUntil('an anomaly', async () =>
      (await fixture.oddities()).some(({ kind, payoutId }) => kind === 'payout_differs' && payoutId === id),
    )
    await fixture.control(`payouts/${paid.id}/reverse`, {})
    await fixture.due(id)
    expect(await fixture.until(id, 'returning')).toMatchObject({ reason: 'bank_reversed' })
    expect(position(await fixture.booked(paid.id))).toEqual([])
  })

  test('gives its AUSD back if its payout has failed, and the provider names no amount of it any more', async () => {
    const nameless: Detour = async (call, onward) => {
      if (call.method !== 'GET' || !call.url.includes('/v2/payouts/')) return undefined
      const answer = (await (await onward()).json()) as { status?: string }
      return Response.json(answer.status === 'FAILED' ? { ...answer, amount: null } : answer)
    }
    await fixture.detoured(nameless, async () => {
      const id = await fixture.taken({ bank: { accountNumber: '999999' } })
      expect(await fixture.until(id, 'returning')).toMatchObject({ reason: 'bank_refused' })
    })
  })
})

describe('webhooks of the provider', () => {
  const event = (data: object, name = 'payout.succeeded') => JSON.stringify({ event: name, data })

  // guard: a webhook is a hint: its payout is fetched
  test('are only hints: a false one changes nothing', async () => {
    const id = await fixture.taken({ bank: { accountNumber: '141414' } })
    const row = await waitUntil('a payout', async () => {
      const now = await fixture.row(id)
      return now.providerPayoutId !== null && now
    })
    const data = { id: row.providerPayoutId, reference_id: id, status: 'SUCCEEDED', amount: 81_250 }
    expect(await fixture.deliver('ID', event(data), 'lie-1')).toBe('done')
    expect((await fixture.row(id)).state).toBe('paying')
  })

  test('about an unknown payout or from the Malaysian account raise anomalies', async () => {
    await fixture.deliver('ID', event({ id: 'disb-nobody' }), 'unknown-1')
    await fixture.deliver('MY', event({ id: 'disb-nobody' }), 'malaysia-1')
    await fixture.deliver('ID', event({ payout_id: 'po-1' }, 'v3_payout.succeeded'), 'v3-1')
    await fixture.deliver('ID', event({}, 'v3_payout.succeeded'), 'v3-2')
    const seen = (await fixture.oddities()).map(({ kind, object }) => `${kind} ${object}`)
    expect(seen).toEqual(
      expect.arrayContaining([
        'payout_unknown disb-nobody',
        'other_account malaysia-1',
        'payout_unknown po-1',
        'event_unknown v3-2',
      ]),
    )
  })

  test.each([
    ['a payment', event({ id: 'py-1' }, 'payment.capture')],
    ['no JSON', '<xml/>'],
  ])('about %s are left to other services', async (_, body) => {
    const before = (await fixture.oddities()).length
    expect(await fixture.deliver('ID', body, crypto.randomUUID())).toBe('done')
    expect(await fixture.oddities()).toHaveLength(before)
  })
})

describe('the activity of a wallet', () => {
  test('is paged by a cursor that skips and repeats nothing', async () => {
    const seen: string[] = []
    let before: { createdAt: string; id: string } | undefined
    for (;;) {
      const asked = {
        wallet: wallet.toUpperCase().replace('0X', '0x'),
        limit: 3,
        ...(before && { before }),
      }
      const { ok } = (await fixture.activity(asked)) as {
        ok: { items: { id: string; createdAt: string }[] }
      }
      if (ok.items.length === 0) break
      seen.push(...ok.items.map((item) => item.id))
      const last = ok.items.at(-1)!
      before = { createdAt: last.createdAt, id: last.id }
    }
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen).toHaveLength((await fixture.rows()).length)
  })
})
