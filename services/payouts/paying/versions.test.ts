import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ProviderUnknown } from '#shared/provider/problem'
import { moveCashout } from '../cashout.store'
import { payoutApisOf } from '../config'
import { type Fixture, openFixture } from '../test-support'
import { payAgain, payTaken, recordRefusal } from './pay'

const versionOf = (call: Request) => new URL(call.url).pathname.split('/')[1]

describe('payouts that go through v3', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture({ payoutsApi: 'v3' })
  })
  afterAll(() => fixture?.[Symbol.asyncDispose]())

  test('are paid once, in whole rupiah, and reported by their own events', async () => {
    const id = await fixture.taken()
    const paid = await fixture.until(id, 'paid')
    expect(paid).toMatchObject({ payoutApi: 'v3', providerStatus: 'SUCCEEDED' })
    expect(paid.providerPayoutId).toStartWith('po-')
    const transfers = await fixture.transfers(id)
    expect(transfers).toHaveLength(1)
    expect(transfers[0]).toMatchObject({ amount: Number(paid.fiatMinor), channel_code: 'ID_BCA' })
  })

  test.each([
    ['the bank sends one back', '654321', 'bank_reversed'],
    ['the account does not exist', '121212', 'account_unknown'],
  ] as const)('return the AUSD when %s', async (_, accountNumber, reason) => {
    const id = await fixture.taken({ bank: { accountNumber } })
    expect(await fixture.until(id, 'returning')).toMatchObject({ reason })
  })

  // guard: a v3 payout keeps one idempotency key
  // together with: a payout is looked up before it is ordered again
  test('are ordered once however often the response is lost', async () => {
    // A webhook would report the payout before the next check.
    await fixture.control('faults', { webhooks: { drop: 1 } })
    let lost = 0
    const id = await fixture.detoured(
      async (call, onward) => {
        if (call.method !== 'POST' || lost >= 2) return undefined
        lost += 1
        await onward()
        return Response.json({ error_code: 'SERVER_ERROR', message: '' }, { status: 500 })
      },
      async () => {
        const taken = await fixture.taken()
        await fixture.until(taken, 'paid')
        return taken
      },
    )
    expect(await fixture.transfers(id)).toHaveLength(1)
    await fixture.control('faults', { webhooks: { drop: 0 } })
  })

  test.each([
    ['404', 404, { error_code: 'DATA_NOT_FOUND', message: '' }],
    ['400', 400, { error_code: 'API_VALIDATION_ERROR', message: '' }],
    ['another form', 200, {}],
    ['a bare list', 200, []],
  ])('never count as absent after the response %s to a look-up', async (_, status, body) => {
    const provider = fixture.providerBy('v3')
    const seen = await fixture.detoured(
      (call) => (call.method === 'GET' ? Response.json(body, { status }) : undefined),
      () => provider.findByReference(crypto.randomUUID(), 'v3').catch((error: Error) => error),
    )
    expect(seen).toBeInstanceOf(ProviderUnknown)
  })

  test('omit the banks that v3 cannot address', async () => {
    const [byV2, byV3] = await Promise.all((['v2', 'v3'] as const).map((api) => fixture.providerBy(api).listChannels()))
    const codes = byV3!.map(({ code }) => code)
    expect(codes).toContain('ID_BCA')
    expect(codes.length).toBeLessThan(byV2!.length)
  })
})

test.each([
  ['v2', ['v2', 'v3']],
  ['v3', ['v3', 'v2']],
  ['v2-only', ['v2']],
  ['v3-only', ['v3']],
] as const)('PROVIDER_PAYOUTS_API=%s looks rows of a backup up in %p', (setting, apis) => {
  expect(payoutApisOf(setting)).toEqual(apis as never)
})

describe('a cash-out that is late at its first order', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture({ recheckAfterMs: 600_000, webhooks: false })
  })
  afterAll(() => fixture?.[Symbol.asyncDispose]())

  /** Pays late while the account refuses lookups through v3. */
  const paidLate = (provider: Fixture['context']['provider']) =>
    fixture.detoured(
      (call) =>
        call.url.includes('/v3/payouts')
          ? Response.json({ error_code: 'DATA_NOT_FOUND', message: '' }, { status: 404 })
          : undefined,
      async () => {
        const { payoutId } = (await fixture.create(fixture.request())).ok!
        await fixture.database.run((db) => moveCashout(db, payoutId, 'taken', { nextCheckAt: null }))
        const context = { ...fixture.context, provider }
        const row = await fixture.row(payoutId)
        await payTaken(context, row, { isLate: true }).catch((error: Error) => recordRefusal(context, row, error))
        return fixture.row(payoutId)
      },
    )

  test('is ordered although the account refuses look-ups by a version that was never used', async () => {
    const { id, attempts } = await paidLate(fixture.providerBy('v2'))
    expect(attempts).toBe(1)
    expect(await fixture.transfers(id)).toHaveLength(1)
  })

  test('waits for an operator if the account refuses look-ups by a version that was used', async () => {
    const row = await paidLate(fixture.providerBy('v2', 'v3'))
    expect(row).toMatchObject({ state: 'taken', attempts: 0 })
    expect(await fixture.transfers(row.id)).toEqual([])
    expect(await fixture.sent(row.id)).not.toContain('relay.return')
    expect(fixture.alarms(row.id).map(({ kind }) => kind)).toEqual(['provider_refuses'])
  })
})

describe('a change of the API version during a payout', () => {
  let fixture: Fixture
  beforeAll(async () => {
    // The interval is so long that only the test makes checks.
    fixture = await openFixture({ recheckAfterMs: 600_000, webhooks: false })
  })
  afterAll(() => fixture?.[Symbol.asyncDispose]())

  // guard: a payout stays with the API version of its first attempt
  test.each([
    ['v2', 'v3'],
    ['v3', 'v2'],
  ] as const)('from %s to %s keeps its version and pays it once', async (before, after) => {
    const contextBy = (api: 'v2' | 'v3') => ({
      ...fixture.context,
      provider: fixture.providerBy(api),
    })
    const used: string[] = []
    // The first attempt is still arriving when the version changes, so no lookup finds it.
    const id = await fixture.detoured(
      (call) => {
        if (call.method === 'POST') {
          used.push(versionOf(call)!)
          return Response.json({ error_code: 'SERVER_ERROR', message: '' }, { status: 500 })
        }
        return undefined
      },
      async () => {
        const answer = await fixture.create(fixture.request())
        const made = answer.ok!.payoutId
        await fixture.database.run((db) => moveCashout(db, made, 'taken', { nextCheckAt: null }))
        const row = await fixture.row(made)
        await payTaken(contextBy(before), row).catch(() => {})
        return made
      },
    )
    await fixture.detoured(
      (call) => {
        if (call.url.includes('/payouts')) used.push(versionOf(call)!)
        return undefined
      },
      async () => {
        const row = await fixture.row(id)
        await payAgain(contextBy(after), row)
      },
    )
    expect([...new Set(used)]).toEqual([before])
    expect(await fixture.row(id)).toMatchObject({ payoutApi: before, attempts: 2 })
    expect(await fixture.transfers(id)).toHaveLength(1)
  })
})
