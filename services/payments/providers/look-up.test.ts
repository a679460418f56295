import { describe, expect, test } from 'bun:test'
import type { FetchedCharge, FetchedRefund } from '../provider'
import { findRefunded, listRefundsOf } from './look-up'

const charge = (paymentId: string, paymentRequestId: string): FetchedCharge => ({
  status: 'succeeded',
  charge: {
    account: 'ID',
    paymentId,
    paymentRequestId,
    reference: 'ref',
    currency: 'IDR',
    paidMinor: 1n,
    channel: 'QRIS',
    channelKind: 'qr',
    paidAt: null,
    issuer: null,
    bankReceipt: null,
  },
})
/** Provider with a payment request that was paid twice, and that names its latest payment. */
const provider = {
  findCharge: async (_: string, id: string) =>
    ({
      'py-1': charge('py-1', 'pr-1'),
      'py-2': charge('py-2', 'pr-1'),
      'py-9': charge('py-9', 'pr-9'),
    })[id],
  findChargeOfRequest: async (_: string, id: string) => (id === 'pr-1' ? charge('py-2', 'pr-1') : undefined),
}

describe('the charge of a refund', () => {
  test.each([
    ['is the payment it names, if that is of the request', 'py-1', 'pr-1', 'py-1'],
    ['is that of the request, if the payment is of another', 'py-9', 'pr-1', 'py-2'],
    ['is that of the request, if the payment is unknown', 'py-8', 'pr-1', 'py-2'],
    ['is that of the request, if no payment is named', null, 'pr-1', 'py-2'],
    ['is the payment it names, if no request is named', 'py-1', null, 'py-1'],
    ['is the payment it names, if the request is unknown', 'py-9', 'pr-7', 'py-9'],
  ] as const)('%s', async (_, paymentId, paymentRequestId, expected) => {
    const found = await findRefunded(provider, 'ID', { paymentId, paymentRequestId })
    expect(found?.charge.paymentId).toBe(expected)
  })
})

describe('a refund that the list of its payment request shows', () => {
  const refundNaming = (paymentId: string | null) =>
    ({ refundId: 'rfd-1', paymentId, paymentRequestId: 'pr-1', status: 'pending' }) as FetchedRefund
  const shownFor = async (paymentId: string, named: string | null) => {
    const { charge: refunded } = charge(paymentId, 'pr-1')
    const shown = await listRefundsOf({ ...provider, listRefunds: async () => [refundNaming(named)] }, refunded)
    return shown?.length === 1
  }

  test.each([
    ['counts for the payment that it names', 'py-1', 'py-1', true],
    ['counts for its payment if it names none', 'py-1', null, true],
    ['does not count for another payment of the request', 'py-1', 'py-2', false],
    ['counts for the latest payment if it names the request', 'py-2', 'pr-1', true],
    ['does not count for an earlier payment if it names the request', 'py-1', 'pr-1', false],
    ['counts for the latest payment if it has an id of the older API', 'py-2', 'ewc_532fe4d7', true],
    ['counts for the latest payment if it has an id without a prefix', 'py-2', '5f21336d8fa9f4001c3f2a77', true],
    ['counts for the latest payment if it has the id without its prefix', 'py-2', '2', true],
  ] as const)('%s', async (_, paymentId, named, counts) => {
    expect(await shownFor(paymentId, named)).toBe(counts)
  })

  // guard: a refund of the request counts unless it belongs to another payment
  test('counts for its payment if no charge of the request is known', async () => {
    const { charge: refunded } = charge('py-1', 'pr-7')
    const shown = await listRefundsOf({ ...provider, listRefunds: async () => [refundNaming('pr-7')] }, refunded)
    expect(shown).toHaveLength(1)
  })
})
