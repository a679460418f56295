import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { readWindow } from '#shared/provider/listing'
import { paymentIdFrom } from '../payment'
import { newWallet, openFixture, waitUntil } from '../test-support'
import { paymentListing } from './provider-list'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())
beforeEach(async () => {
  Object.assign(fixture.chain, { verified: true, drawn: '3000000', frozen: false })
  await fixture.control('faults', { webhooks: { drop: 1 }, api: {} })
})

const opened = async () => {
  const asked = { wallet: newWallet(), amount: '50000', method: 'qr', quoteId: fixture.quote() }
  return (await fixture.topup(asked)).ok!.paymentId
}
const paid = async (channel_code = 'QRIS') => {
  const id = await opened()
  await fixture.control(`sessions/${id}/pay`, { channel_code, force: true })
  return id
}
const stateOf = async (id: string) => (await fixture.row(id))!.state
const settings = {
  listEveryMs: 1,
  providerListRecentMs: 60_000,
  providerListWholeEveryMs: 86_400_000,
  providerListWholeMs: 86_400_000,
}
/** Reads the window, which is due a millisecond after the last reading; that reading may still be running. */
const read = () =>
  waitUntil('a reading that is due', async () => {
    const reading = await readWindow(fixture.listing, settings, { account: 'ID', window: 'recent' })
    return reading === 'not due' ? undefined : reading
  })
/** Returns the rows of a payment that the next reading receives again. */
async function undoneRows(id: string) {
  const rows = await fixture.listing.list('ID', new Date(fixture.context.clock() - 600_000))
  const own = rows.filter(({ reference }) => paymentIdFrom(reference ?? '') === id)
  expect(own.length).toBeGreaterThan(0)
  const done = await fixture.listing.done('ID', own)
  return own.filter((row) => !done.has(row)).map(({ type, status }) => `${type} ${status}`)
}

describe("the provider's list of transactions", () => {
  test('brings a payment without a webhook, once', async () => {
    const id = await paid()
    await fixture.list()
    expect(await stateOf(id)).toBe('paid')
    await fixture.list()
    const subjects = (await fixture.orders(id)).map(({ subject }) => subject)
    expect(subjects).toEqual(['payments.paid', 'relay.credit'])
  })

  test('brings a refund before the payment was reported, and nothing is credited', async () => {
    const id = await paid('CARDS')
    await fixture.control(`payments/${id}/refund`)
    await fixture.list()
    await waitUntil('the refund', async () => ['refunded', 'paid'].includes(await stateOf(id)))
    await fixture.list()
    // Refunded money is not kept, whichever row comes first.
    const row = (await fixture.row(id))!
    expect([row.state, row.refundedMinor]).toEqual([row.state, 50_000n])
    if (row.state === 'paid') {
      await fixture.settle('credit', id)
      expect(await stateOf(id)).toBe('revoking')
    }
  })

  test('proves a full refund if the refund itself cannot be fetched', async () => {
    const id = await paid('CARDS')
    await fixture.list()
    await fixture.settle('credit', id)
    await fixture.control('faults', { api: { hideRefunds: 1 } })
    await fixture.control(`payments/${id}/refund`, { amount: 20_000 })
    await fixture.list()
    expect(await fixture.row(id)).toMatchObject({ state: 'revoking', refundedMinor: 20_000n })
    await fixture.control('faults', { api: {} })
    await fixture.list()
    expect((await fixture.row(id))!.refundedMinor).toBe(20_000n)
  })

  // guard: a refund or dispute that no look-up finds is looked for again, because the list may be ahead of it
  test('leads to a refund without our reference, also if the refund is found only after its row', async () => {
    const id = await paid()
    await fixture.list()
    await fixture.settle('credit', id)
    const alarmed = () => fixture.alarms.filter(({ msg }) => msg === 'provider transaction does not match any payment')
    const before = alarmed().length
    await fixture.control('faults', { webhooks: { drop: 1 }, api: { hideRefunds: 1 } })
    await fixture.control(`payments/${id}/refund`, { amount: 20_000, reference_id: 'dashboard' })
    for (let times = 0; times < 2; times++) await fixture.list()
    expect((await fixture.row(id))!.refundedMinor).toBe(0n)
    expect(alarmed()).toHaveLength(before + 1)
    await fixture.control('faults', { webhooks: { drop: 1 }, api: {} })
    await fixture.list()
    expect((await fixture.row(id))!.refundedMinor).toBe(20_000n)
  })

  test('leads to no more look-ups of a refund that was not found for a day', async () => {
    const id = await paid()
    await fixture.list()
    await fixture.control('faults', { webhooks: { drop: 1 }, api: { hideRefunds: 1 } })
    await fixture.control(`payments/${id}/refund`, { reference_id: 'dashboard' })
    await fixture.list()
    const undone = async (aheadMs: number) => {
      const rows = await fixture.listing.list('ID', new Date(fixture.context.clock() - 600_000))
      const refunds = rows.filter(({ type, reference }) => type === 'refund' && reference === 'dashboard')
      const clock = () => fixture.context.clock() + aheadMs
      const done = await paymentListing({ ...fixture.context, clock }).done('ID', refunds)
      return refunds.filter((row) => !done.has(row)).length
    }
    expect(await undone(3_600_000)).toBeGreaterThan(0)
    expect(await undone(90_000_000)).toBe(0)
  })

  test.each([
    ['fails', { errorRate: 1 }],
    ['is forbidden to our key', { forbidList: 1 }],
  ])('that %s does not count as read: the next reading starts at the last good one', async (_, api) => {
    const id = await opened()
    expect(await read()).toBe('whole')
    await fixture.control('faults', { api })
    await fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS' })
    for (let rounds = 0; rounds < 3; rounds++) {
      fixture.time.aheadMs += 120_000
      expect(await read()).toBe('failed')
    }
    expect(await stateOf(id)).toBe('awaiting_payment')
    await fixture.control('faults', { api: {} })
    fixture.time.aheadMs += 2_000
    expect(await read()).toBe('whole')
    expect(await stateOf(id)).toBe('paid')
  })

  test('does not count as read if one of its payments cannot be fetched', async () => {
    const id = await paid()
    await fixture.control('faults', { api: { errorRate: 0.9 }, seed: 3 })
    await fixture.list().catch(() => {})
    await fixture.control('faults', { api: {} })
    await fixture.list()
    expect(await stateOf(id)).toBe('paid')
  })

  async function paidElsewhere(reference: string): Promise<void> {
    const answer = await fetch(`${fixture.sandbox.url}/sessions`, {
      method: 'POST',
      headers: {
        Authorization: `Basic ${btoa('xnd_development_id:')}`,
        'Content-Type': 'application/json',
      },
      body: JSON.stringify({
        reference_id: reference,
        session_type: 'PAY',
        mode: 'PAYMENT_LINK',
        currency: 'IDR',
        country: 'ID',
        amount: 70_000,
      }),
    })
    const { payment_session_id: session } = (await answer.json()) as { payment_session_id: string }
    await fixture.control(`sessions/${session}/pay`, { channel_code: 'QRIS' })
  }

  test('raises one anomaly for unmatched money', async () => {
    const before = (await fixture.anomalies()).length
    await paidElsewhere('another shop')
    await fixture.list()
    await fixture.list()
    const anomalies = (await fixture.anomalies()).slice(before)
    expect(anomalies.map(({ kind }) => kind)).toEqual(['money_unmatched'])
    expect(fixture.alarms.filter(({ msg }) => msg === 'charge does not match any payment')).toHaveLength(1)
  })

  test.each([
    ['of another shop', 'another shop', 'warn: provider transaction does not match any payment'],
    ['under a reference like ours', `pay_${'x'.repeat(22)}`, 'alarm: provider transaction does not match any payment'],
  ])('logs money %s whose charge is not found at the right level', async (_, reference, expected) => {
    await paidElsewhere(reference)
    const lines: string[] = []
    const line = (level: string) => (_: object, said: string) => void lines.push(`${level}: ${said}`)
    const { log } = fixture.context
    Object.assign(fixture.context, { log: { ...log, warn: line('warn'), alarm: line('alarm') } })
    await fixture.control('faults', { webhooks: { drop: 1 }, api: { hidePayments: 1 } })
    await fixture.list()
    Object.assign(fixture.context, { log })
    expect(lines).toEqual([expected])
  })

  test('follows a dispute that is won, lost again and grows', async () => {
    const id = await paid()
    await fixture.list()
    await fixture.settle('credit', id)
    const made = (await fixture.control(`payments/${id}/chargeback`, {
      amount: 20_000,
    })) as unknown as { id: string }
    await fixture.list()
    const wallet = (await fixture.row(id))!.wallet
    const standing = async () => {
      const { state, refundedMinor } = (await fixture.row(id))!
      return [state, refundedMinor, (await fixture.walletRow(wallet))?.frozen]
    }
    const dispute = async (change: object) => {
      await fixture.control(`chargebacks/${made.id}`, change)
      await fixture.list()
      return standing()
    }
    expect(await standing()).toEqual(['review', 20_000n, true])
    expect(await dispute({ status: 'REVERSED' })).toEqual(['credited', 0n, false])
    expect(await dispute({ status: 'SUCCESS' })).toEqual(['review', 20_000n, true])
    await fixture.clear(wallet)
    expect(await dispute({ amount: 50_000 })).toEqual(['review', 50_000n, true])
    await fixture.clear(wallet)
    expect(await dispute({ status: 'REVERSED' })).toEqual(['credited', 0n, false])
    expect(await dispute({ status: 'SUCCESS' })).toEqual(['review', 50_000n, true])
  })

  test.each([
    ['FAILED', 'VOIDED', async (id: string) => `payments/${id}/tell`, ['VOIDED', 'FAILED']],
    [
      'PENDING',
      'SUCCESS of a refund',
      async (id: string) =>
        `refunds/${(await fixture.control(`payments/${id}/refund`, { status: 'SUCCEEDED' })).id}/tell`,
      ['SUCCESS', 'PENDING'],
    ],
  ])('is not read again for the row %s after %s', async (_, __, path, words) => {
    const id = await paid()
    await fixture.list()
    await fixture.settle('credit', id)
    const told = await path(id)
    for (const listed of words) {
      await fixture.control(told, { listed })
      await fixture.list()
    }
    expect(await fixture.row(id)).toMatchObject({ state: 'review', refundedMinor: 50_000n })
    expect(await undoneRows(id)).toEqual([])
  })

  test('is not read again for a dispute that is open again after it was lost', async () => {
    const id = await paid()
    await fixture.list()
    await fixture.settle('credit', id)
    const made = (await fixture.control(`payments/${id}/chargeback`)) as unknown as { id: string }
    await fixture.list()
    await fixture.control(`chargebacks/${made.id}`, { status: 'PENDING' })
    await fixture.list()
    expect(await fixture.row(id)).toMatchObject({ state: 'review', refundedMinor: 50_000n })
    expect(await undoneRows(id)).toEqual([])
  })
})
