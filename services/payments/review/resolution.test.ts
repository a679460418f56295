import { describe, expect, test } from 'bun:test'
import { creditOf, decideRefunding } from './resolution'

type Review = Parameters<typeof creditOf>[0]
const topup: Review = {
  kind: 'topup',
  state: 'review',
  currency: 'IDR',
  reason: 'amount_differs',
  rateMinorPerUsd: 16_900n,
  lateRateMinorPerUsd: null,
  fiatMinor: 160_000n,
  paidMinor: 160_003n,
  ausdMicro: 9_467_455n,
  promisedMicro: null,
  feeMinor: 0n,
  topupFees: null,
  expiresAt: null,
  providerPaymentId: 'py-1',
  held: false,
  onchainMicro: 0n,
  leftMicro: 0n,
  recoveredMicro: 0n,
  creditedAt: null,
  holdEndedAt: null,
  refundedMinor: 0n,
  refundAppliedMinor: 0n,
  writtenOffMicro: 0n,
  overpaidMinor: 0n,
  overpaidRefundedMinor: 0n,
  refSequence: 0,
}

describe('a credit by an operator', () => {
  test.each([
    ['of another amount is worth that amount at the rate, rounded down once', {}, 9_467_633n],
    ['of the promised amount is worth the promise', { paidMinor: 160_000n }, 9_467_455n],
    ['of late money has the rate of its arrival', { lateRateMinorPerUsd: 17_000n, ausdMicro: 9_411_764n }, 9_411_941n],
    [
      'of a settlement is the same part of its promise',
      { kind: 'settlement', fiatMinor: 67_600n, ausdMicro: 4_000_000n, paidMinor: 33_800n },
      2_000_000n,
    ],
  ] as const)('%s', (_, given, ausdMicro) => {
    expect(creditOf({ ...topup, ...given } as Review, 'qr')).toMatchObject({ ausdMicro })
  })
})

describe('a payment whose second payment was refunded', () => {
  const [ausdMicro, fiatMinor] = [4_000_000n, 67_600n]
  const given = { ausdMicro, fiatMinor, paidMinor: fiatMinor, onchainMicro: ausdMicro, creditedAt: new Date(0) }
  const refunding: Review = {
    ...topup,
    ...given,
    state: 'refunding',
    reason: 'paid_twice',
    overpaidMinor: fiatMinor,
    overpaidRefundedMinor: fiatMinor,
  }
  const part = { refundedMinor: 6_969n, refundAppliedMinor: 6_969n, onchainMicro: 3_587_633n }

  test.each([
    ['is credited as before', {}, { next: 'credited', reason: 'second_refunded' }],
    ['keeps what is left of a part that was revoked', part, { next: 'credited', reason: 'second_refunded' }],
    [
      'is decided about again if more went back than was revoked',
      { ...part, refundAppliedMinor: 0n, onchainMicro: ausdMicro },
      { next: 'review', reason: 'refunded_after_credit' },
    ],
    // guard: a payment that gave less than its money is worth goes back to review after a refund
    [
      'is decided about again if the part that was revoked came back',
      { ...part, refundedMinor: 0n, refundAppliedMinor: 0n },
      { next: 'review', reason: 'refund_undone' },
    ],
  ] as const)('%s', (_, more, step) => {
    expect(decideRefunding({ ...refunding, ...more }, ['succeeded'])).toEqual(step)
  })
})
