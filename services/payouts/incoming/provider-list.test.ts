import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import { position } from '#shared/ledger/position'
import { readWindow } from '#shared/provider/listing'
import { listingAgeMs } from '#shared/provider/listing.store'
import { waitUntil } from '#test/support/wait'
import { cashouts } from '../cashout.table'
import { payAgain } from '../paying/pay'
import { anomalies, listings } from '../schema.store'
import { type Detour, type Fixture, openFixture } from '../test-support'
import { receiveEvidence } from './receive'

// The fixture has no webhooks, and no rechecks of paid cash-outs.
let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture({ webhooks: false, reversalWatchMs: 0 })
})
afterAll(() => fixture?.[Symbol.asyncDispose]())
beforeEach(() => fixture.control('faults', {}))

const says = (status: number, error_code: string) => Response.json({ error_code, message: 'no' }, { status })
type Row = Record<string, unknown>
const listed =
  (change: (row: Row) => Row): Detour =>
  async (call, onward) => {
    if (!call.url.includes('/transactions?')) return undefined
    const page = (await (await onward()).json()) as { data: Row[] }
    return Response.json({ ...page, data: page.data.map(change) })
  }
const asked = async (work: () => Promise<unknown>, other?: Detour): Promise<string[]> => {
  const paths: string[] = []
  const note: Detour = (call, onward) => {
    const { pathname } = new URL(call.url)
    if (pathname !== '/transactions') paths.push(pathname)
    return other?.(call, onward)
  }
  await fixture.detoured(note, work)
  return paths
}
const thrownBy = async (work: Promise<unknown>): Promise<AggregateError> =>
  work.then(
    () => expect.unreachable(),
    (error) => error,
  )

async function paid(): Promise<{ id: string; payoutId: string }> {
  const id = await fixture.taken()
  const { providerPayoutId } = await fixture.until(id, 'paid')
  await waitUntil('rest', async () => (await fixture.row(id)).nextCheckAt === null)
  return { id, payoutId: providerPayoutId! }
}
const reverse = (payoutId: string) => fixture.control(`payouts/${payoutId}/reverse`, {})
const booked = async (item: string) => position(await fixture.booked(item))
const suspense = (minor: bigint) => [
  { account: 'provider_id' as const, asset: 'IDR' as const, amount: -minor },
  { account: 'suspense' as const, asset: 'IDR' as const, amount: minor },
]
const kindsOf = async (object: string) =>
  (await fixture.oddities()).filter((odd) => odd.object === object).map(({ kind }) => kind)
const order = (reference_id: string, account_number = '1234567890') => ({
  reference_id,
  channel_code: 'ID_BCA',
  amount: 81_250,
  currency: 'IDR',
  channel_properties: { account_number, account_holder_name: 'Sari Dewi' },
})

describe('a payout reversed after it was paid, without a webhook', () => {
  test('is found in the list, and the AUSD is returned once', async () => {
    const { id, payoutId } = await paid()
    await fixture.list()
    expect((await fixture.row(id)).state).toBe('paid')
    await reverse(payoutId)
    await Promise.all([fixture.list(), fixture.list()])
    const row = await fixture.row(id)
    expect(row).toMatchObject({ state: 'returning', reason: 'bank_reversed' })
    expect(row.failureCode).toBe('REVERSED')
    await fixture.relayed('return', id)
    await fixture.list()
    expect((await fixture.row(id)).state).toBe('returned')
    const told = ['payouts.paid', 'payouts.returned', 'payouts.taken', 'relay.return', 'relay.take']
    expect(await fixture.sent(id)).toEqual(told)
  })

  test('is found when it appears in the list late', async () => {
    const { id, payoutId } = await paid()
    await fixture.control('faults', { api: { listDelayMs: 400 } })
    await reverse(payoutId)
    await fixture.list()
    await waitUntil('a list that has it', async () => {
      await fixture.list()
      return (await fixture.row(id)).state === 'returning'
    })
  })

  test.each([
    ['no id of it', { product_id: null }],
    ['an id of another form', { product_id: 'x'.repeat(60) }],
    ['an id of another product', { product_id: 'disb-somebody-elses' }],
    ['a type that is new', { type: 'PAYOUT' }],
  ])('is found by our reference when the list has %s', async (_, change) => {
    const { id, payoutId } = await paid()
    await reverse(payoutId)
    const own = listed((row) => (row.reference_id === id ? { ...row, ...change } : row))
    // The provider answers 400 to an id that is not of its own form, as observed.
    const detour: Detour = (call, onward) =>
      call.url.includes('xxxxx') ? says(400, 'API_VALIDATION_ERROR') : own(call, onward)
    await fixture.detoured(detour, () => fixture.list())
    expect((await fixture.row(id)).state).toBe('returning')
  })

  test('is not believed while the payout itself contradicts the list, which does not count as read', async () => {
    const { id } = await paid()
    const ahead = listed((row) => (row.reference_id === id ? { ...row, status: 'REVERSED' } : row))
    const error = await fixture.detoured(ahead, () => thrownBy(fixture.list()))
    expect(error.errors.map(String)).toEqual(['ProviderUnknown: list and payout disagree: reversed, SUCCEEDED'])
    expect((await fixture.row(id)).state).toBe('paid')
  })
})

describe('a payout that reads as failed after it was paid', () => {
  test('returns the AUSD once the list has its failure too', async () => {
    const { id, payoutId } = await paid()
    await fixture.control(`payouts/${payoutId}/fail`, { failure_code: 'INVALID_DESTINATION' })
    await Promise.all([fixture.list(), fixture.list()])
    expect(await fixture.row(id)).toMatchObject({
      state: 'returning',
      reason: 'bank_reversed',
      failureCode: 'INVALID_DESTINATION',
    })
    await fixture.relayed('return', id)
    await fixture.list()
    expect((await fixture.row(id)).state).toBe('returned')
    expect(await booked(payoutId)).toEqual([])
    const told = ['payouts.paid', 'payouts.returned', 'payouts.taken', 'relay.return', 'relay.take']
    expect(await fixture.sent(id)).toEqual(told)
  })

  // guard: a paid cash-out whose payout reads as failed is returned only if the list says so too
  test('keeps its AUSD while the list still has it as paid, and alerts', async () => {
    const { id, payoutId } = await paid()
    await fixture.control(`payouts/${payoutId}/tell`, { status: 'FAILED' })
    await payAgain(fixture.context, await fixture.row(id))
    await fixture.list()
    expect((await fixture.row(id)).state).toBe('paid')
    expect(await kindsOf(payoutId)).toEqual(['payout_differs'])
    await fixture.control(`payouts/${payoutId}/tell`, {})
    await fixture.list()
    expect(await booked(payoutId)).toEqual([])
  })
})

describe('a wrong answer about a payout', () => {
  const noticed = async (id: string, payoutId: string) => {
    await fixture.list()
    expect(await kindsOf(payoutId)).toEqual(['paid_and_returned'])
    expect(await booked(payoutId)).toEqual(suspense(81_250n))
    expect((await fixture.row(id)).state).toBe('returned')
    expect(await asked(() => fixture.list())).toEqual([])
  }

  // guard: a listed payout is asked about until the books agree with its row
  test('that returned its AUSD is noticed by the next reading of the list', async () => {
    const failed: Detour = async (call, onward) => {
      if (!/\/v2\/payouts($|[/?])/.test(call.url)) return undefined
      const body = (await (await onward()).json()) as Row | { data: Row[] }
      const as = (row: Row) => ({ ...row, status: 'FAILED', failure_code: 'INVALID_DESTINATION' })
      return Response.json(Array.isArray(body.data) ? { ...body, data: body.data.map(as) } : as(body))
    }
    const { id, payoutId } = await fixture.detoured(failed, async () => {
      const id = await fixture.taken()
      const { providerPayoutId } = await fixture.until(id, 'returning')
      await waitUntil('the bank having paid', async () => {
        const [transfer] = await fixture.transfers(id)
        return transfer!.status === 'SUCCEEDED'
      })
      await fixture.list()
      return { id, payoutId: providerPayoutId! }
    })
    await fixture.relayed('return', id)
    await noticed(id, payoutId)
  })

  test('that reversed it is noticed once no answer can be older than that', async () => {
    const { id, payoutId } = await paid()
    await fixture.list()
    const [found] = await fixture.context.provider.findByReference(id, 'v2')
    const wrong = { ...found!, status: 'reversed', word: 'REVERSED' } as const
    await fixture.database.transaction((tx) => receiveEvidence(tx, fixture.context, wrong))
    await fixture.relayed('return', id)
    await fixture.list()
    expect(await kindsOf(payoutId)).toEqual([])
    await fixture.database.run((db) => db.update(cashouts).set({ updatedAt: sql`now() - interval '31 minutes'` }))
    await noticed(id, payoutId)
  })

  test.each([
    ['no id of it', null],
    ['an id that no lookup finds', 'disb-somebody-elses'],
  ])('is looked for during half an hour if its row has %s', async (_, product_id) => {
    const { id } = await paid()
    await fixture.list()
    const own = listed((row) => (row.reference_id === id ? { ...row, product_id } : row))
    const lookups = () => asked(() => fixture.list(), own)
    expect(await lookups()).not.toEqual([])
    expect(await lookups()).not.toEqual([])
    await fixture.database.run((db) => db.update(anomalies).set({ noticedAt: sql`now() - interval '31 minutes'` }))
    expect(await lookups()).toEqual([])
  })
})

describe('the list of payouts', () => {
  test('leads to one look-up per row, and to another after the row changes', async () => {
    const { payoutId } = await paid()
    await fixture.list()
    expect(await asked(() => fixture.list())).toEqual([])
    await reverse(payoutId)
    expect(await asked(() => fixture.list())).toEqual([`/v2/payouts/${payoutId}`])
  })

  test.each([
    ['500', () => says(500, 'SERVER_ERROR')],
    ['403', () => says(403, 'UNAUTHORIZED_SENDER_IP')],
  ])(
    'does not count as read if one of its payouts cannot be looked up (%s); the others are received',
    async (_, reply) => {
      const [unclear, other] = [await paid(), await paid()]
      await reverse(unclear.payoutId)
      await reverse(other.payoutId)
      const detour: Detour = (call) => (call.url.endsWith(`/${unclear.payoutId}`) ? reply() : undefined)
      const error = await fixture.detoured(detour, () => thrownBy(fixture.list()))
      expect(error.errors).toHaveLength(1)
      expect((await fixture.row(other.id)).state).toBe('returning')
      expect((await fixture.row(unclear.id)).state).toBe('paid')
      await fixture.list()
      expect((await fixture.row(unclear.id)).state).toBe('returning')
    },
  )

  test('does not count as read if it has a payout of ours that no look-up finds', async () => {
    const { id, payoutId } = await paid()
    await reverse(payoutId)
    const none = () => Response.json({ has_more: false, data: [] })
    const detour: Detour = (call) => {
      if (call.url.endsWith(`/${payoutId}`)) return says(404, 'DATA_NOT_FOUND')
      return call.url.includes('reference_id=') ? none() : undefined
    }
    const error = await fixture.detoured(detour, () => thrownBy(fixture.list()))
    expect(String(error.errors[0])).toContain('lookups do not find')
    expect((await fixture.row(id)).state).toBe('paid')
    await fixture.list()
  })

  test('raises an alert for an existing payout whose AUSD was returned', async () => {
    const id = await fixture.taken({ bank: { accountNumber: '999999' } })
    await fixture.until(id, 'returning')
    await fixture.provide('/v2/payouts', order(id), { 'Idempotency-key': crypto.randomUUID() })
    const [second] = (await fixture.transfers(id)).slice(-1) as unknown as { id: string }[]
    await fixture.list()
    expect(await kindsOf(second!.id)).toEqual(['paid_twice'])
    expect(fixture.alarms(id)).toMatchObject([{ msg: 'unexpected payout at provider' }])
  })

  test('raises an alert for a payout that this service did not order', async () => {
    await fixture.provide('/v2/payouts', order('by hand'), { 'Idempotency-key': 'by hand' })
    const [byHand] = (await fixture.transfers('by hand')) as unknown as { id: string }[]
    await fixture.list()
    expect(await kindsOf(byHand!.id)).toEqual(['payout_unknown'])
    expect(fixture.logged.filter(({ object }) => object === byHand!.id)).toMatchObject([
      { alarm: true, msg: 'unexpected payout at provider' },
    ])
  })

  test('raises one anomaly for a payout that is not ours and ignores other transactions', async () => {
    await fixture.list()
    const stray = { id: 'txn_stray', product_id: 'tr-1', reference_id: 'theirs' }
    const more: Detour = async (call, onward) => {
      if (!call.url.includes('/transactions?')) return undefined
      const page = (await (await onward()).json()) as { data: Row[] }
      const payout = { ...stray, type: 'DISBURSEMENT', status: 'SUCCESS' }
      const other = { ...stray, id: 'txn_other', type: 'TOPUP', status: 'SUCCESS' }
      return Response.json({ ...page, data: [...page.data, payout, other] })
    }
    await fixture.detoured(more, async () => {
      await fixture.list()
      await fixture.list()
    })
    expect(await kindsOf('txn_stray')).toEqual(['payout_unknown'])
    expect(await kindsOf('txn_other')).toEqual([])
  })
})

describe('the list of payouts is read periodically', () => {
  const hourMs = 3_600_000
  const often = { listEveryMs: 50, providerListRecentMs: hourMs }
  const settings = { ...often, providerListWholeEveryMs: hourMs, providerListWholeMs: 2 * hourMs }
  const stateOf = async (window: 'recent' | 'whole') =>
    (await fixture.database.read((db) => db.select().from(listings))).find((listing) => listing.window === window)
  const readDue = async (signal?: AbortSignal, by = settings) => {
    for (const window of ['recent', 'whole'] as const)
      await readWindow(fixture.listing, by, { account: 'ID', window }, signal)
  }
  const beDue = () =>
    fixture.database.run((db) => db.update(listings).set({ dueAt: sql`now()` }).where(eq(listings.window, 'recent')))
  const reads = async (count: number): Promise<string[]> => {
    const froms: string[] = []
    const note: Detour = (call) => {
      const { pathname, searchParams } = new URL(call.url)
      if (pathname === '/transactions') froms.push(searchParams.get('updated[gte]')!)
      return undefined
    }
    const seldom = { ...settings, listEveryMs: hourMs }
    await fixture.detoured(note, () => Promise.all(Array.from({ length: count }, () => readDue(undefined, seldom))))
    return froms.sort()
  }
  const ago = (time: string) => Math.round((Date.now() - Date.parse(time)) / hourMs)

  test('by one of several instances, both windows at first, then each when it is due', async () => {
    expect(await listingAgeMs(fixture.database, listings)).toBeNull()
    expect((await reads(3)).map(ago)).toEqual([2, 1])
    expect(await reads(2)).toEqual([])
    await beDue()
    expect((await reads(2)).map(ago)).toEqual([1])
    expect(await stateOf('whole')).toMatchObject({ failures: 0, readAt: expect.any(Date) })
    expect(await listingAgeMs(fixture.database, listings)).toBeLessThan(10_000)
  })

  test('and raises an alert after five consecutive failures, with the missing permission', async () => {
    await fixture.control('faults', { api: { forbidList: 1 } })
    await beDue()
    const { readAt } = (await stateOf('recent'))!
    await waitUntil('five failures', async () => {
      await readDue()
      return (await stateOf('recent'))!.failures >= 5
    })
    expect((await stateOf('recent'))!.readAt).toEqual(readAt)
    const told = fixture.logged.filter(({ window }) => window === 'recent')
    expect(told.map(({ failures, alarm, permission }) => [failures, alarm, permission])).toEqual(
      [1, 2, 3, 4, 5].map((failures) => [failures, failures === 5 ? true : undefined, 'Transaction Read']),
    )
    expect(told.at(-1)).toMatchObject({ msg: 'provider transaction list incomplete' })
    await fixture.control('faults', {})
    await waitUntil('a reading', async () => {
      await readDue()
      return (await stateOf('recent'))!.failures === 0
    })
  })

  test('and a draining instance releases its reading', async () => {
    const stop = new AbortController()
    const { payoutId } = await paid()
    await reverse(payoutId)
    await waitUntil('due', async () => (await stateOf('recent'))!.dueAt.getTime() < Date.now())
    const last: Detour = (call) => {
      if (call.url.includes('/transactions?')) stop.abort()
      return undefined
    }
    await fixture.detoured(last, () => readDue(stop.signal))
    const { dueAt, failures } = (await stateOf('recent'))!
    expect(dueAt.getTime()).toBeLessThanOrEqual(Date.now() + 20)
    expect(failures).toBe(0)
  })
})
