import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { actionsOn, kinds } from '../losses/test-support'
import { newWallet, openFixture } from '../test-support'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())
Object.assign(fixture.chain, { verified: true, drawn: '3000000' })

const { given, refund } = actionsOn(fixture)
const topup = () => fixture.topup({ wallet: newWallet(), quoteId: fixture.quote(), amount: '50000', method: 'qr' })
const fromNowMs = (time: Date | null) => Math.abs(time!.getTime() - Date.now())

describe.each([
  ['two hours ahead', 7_200_000],
  ['two hours behind', -7_200_000],
])("while the provider's clock is %s", (_, clockAheadMs) => {
  let first: Awaited<ReturnType<typeof topup>>
  beforeAll(async () => {
    await fixture.control('faults', { webhooks: { drop: 1 }, api: { clockAheadMs } })
    // The client knows the provider's clock from its first response, which may refuse an end in the provider's past.
    first = await topup()
  })

  test('no checkout keeps its rate for longer, not even the first', async () => {
    const row = first.ok && (await fixture.row(first.ok.paymentId))
    const leftMs = (row?.expiresAt?.getTime() ?? 0) - Date.now()
    expect(leftMs).toBeLessThan(960_000)
  })

  test('a checkout can be paid for a quarter of an hour of ours', async () => {
    const row = await fixture.row((await topup()).ok!.paymentId)
    expect(fromNowMs(row!.expiresAt)).toBeGreaterThan(840_000)
    expect(fromNowMs(row!.expiresAt)).toBeLessThan(960_000)
  })

  test.each(kinds)('a %s paid in time is not late', async (kind) => {
    const { paidAt, lateRateMinorPerUsd } = (await fixture.row(await given('QRIS', kind)))!
    expect(fromNowMs(paidAt)).toBeLessThan(60_000)
    expect(lateRateMinorPerUsd).toBeNull()
  })

  test('a refund that only the list shows is counted', async () => {
    const id = await given('QRIS')
    await refund(id)
    await fixture.list()
    await fixture.becomes(id, { refundedMinor: 50_000n })
  })
})
