import { describe, expect, test } from 'bun:test'
import type { FetchedCharge } from '../provider'
import { findRefunded } from './look-up'

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
