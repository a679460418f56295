import { describe, expect, test } from 'bun:test'
import {
  decideMatured,
  decideOverpaid,
  decideReceipt,
  decideRefunded,
  decideRevoked,
  decideSettled,
  lostMicro,
  nextCheck,
  type Receipt,
  reducedTo,
  waiverOf,
} from './decide'
import {
  type BackFacts,
  mayBecome,
  type PaymentFacts,
  type PaymentState,
  paymentStates,
  remainderFloor,
} from './payment'
import type { Charge } from './provider'

const open: PaymentFacts = {
  kind: 'topup',
  state: 'awaiting_payment',
  currency: 'IDR',
  fiatMinor: 50_000n,
  ausdMicro: 3_076_923n,
  feeMinor: 0n,
  topupFees: null,
  onchainMicro: 0n,
  leftMicro: 0n,
  recoveredMicro: 0n,
  writtenOffMicro: 0n,
  providerPaymentId: null,
  held: null,
  creditedAt: null,
  holdEndedAt: null,
  refundedMinor: 0n,
  refundAppliedMinor: 0n,
  overpaidMinor: 0n,
  overpaidRefundedMinor: 0n,
  rateMinorPerUsd: 16_250n,
  expiresAt: null,
}
const paid: PaymentFacts = {
  ...open,
  state: 'paid',
  providerPaymentId: 'py-1',
  held: false,
  onchainMicro: 3_076_923n,
}
const exact = { paidMinor: 50_000n }
const charge: Charge = {
  account: 'ID',
  paymentId: 'py-1',
  paymentRequestId: 'pr-1',
  reference: 'r',
  currency: 'IDR',
  paidMinor: 50_000n,
  paidAt: null,
  issuer: null,
  bankReceipt: null,
  channel: 'QRIS',
  channelKind: 'qr',
}
const stay = { stay: true }
const review = (reason: string) => ({ next: 'review', reason })

describe('the decision on incoming money', () => {
  const whole = { next: 'paid', onchainMicro: 3_076_923n }
  test.each([
    ['in time', open, charge, whole],
    ['after the checkout closed', { ...open, state: 'expired' }, charge, whole],
    ['before we knew the checkout', { ...open, state: 'opening' }, charge, whole],
    ['for a settlement', { ...open, kind: 'settlement' }, charge, whole],
    ['on a replaced checkout', { ...open, kind: 'settlement', state: 'replaced' }, charge, whole],
    // guard: a counted charge is not counted again
    ['again', paid, charge, { known: true }],
    ['again, after the credit', { ...paid, state: 'credited' }, charge, { known: true }],
    ['a second time', paid, { ...charge, paymentId: 'py-2' }, { overpaid: true }],
    // guard: a second payment for the same top-up is not credited
    [
      'a second time, while the first is in review',
      { ...paid, state: 'review' },
      { ...charge, paymentId: 'py-2' },
      { overpaid: true },
    ],
    // guard: a payment with another amount needs manual review
    ['one short', open, { ...charge, paidMinor: 49_999n }, review('amount_differs')],
    ['one over', open, { ...charge, paidMinor: 50_001n }, review('amount_differs')],
    ['in no exact amount', open, { ...charge, paidMinor: null }, review('amount_differs')],
    [
      'for a top-up with fees: the rest is credited, for no other reason',
      { ...open, topupFees: 'qr=500+100' },
      charge,
      { next: 'paid', onchainMicro: 3_015_384n },
    ],
    // guard: a payment in another currency needs manual review
    ['in other money', open, { ...charge, currency: 'MYR' }, review('currency_differs')],
    // guard: a payment refunded before its credit is not credited
    [
      'already given back',
      { ...open, refundedMinor: 50_000n },
      charge,
      { next: 'refunded', reason: 'refunded_before_credit' },
    ],
    [
      'partly given back: the rest is credited',
      { ...open, refundedMinor: 20_000n },
      charge,
      { next: 'paid', onchainMicro: 1_846_153n, reason: 'refunded_in_part' },
    ],
  ] as const)('%s', (_, payment, money, answer) => {
    expect(withoutPart(decideReceipt(payment as PaymentFacts, money))).toEqual(answer as never)
  })
})

function withoutPart(receipt: Receipt): unknown {
  if (!('counted' in receipt)) return receipt
  const { counted: _, ...rest } = receipt
  return rest
}

describe('the part of a settlement that repays its debt at once', () => {
  const settlement: PaymentFacts = { ...open, kind: 'settlement' }
  const part = {
    fiatMinor: 50_000n,
    feeMinor: 0n,
    ausdMicro: 3_076_923n,
    refundedMinor: 0n,
    promisedMicro: null,
    restMinor: 0n,
    restRefundedMinor: 0n,
  }
  const whole = { next: 'paid', onchainMicro: 3_076_923n }
  test.each([
    ['all of what was paid exactly', {}, 50_000n, { ...whole, counted: part }],
    [
      'all of it, if one rupiah more was paid',
      {},
      50_001n,
      { ...whole, reason: 'overpaid', counted: { ...part, restMinor: 1n } },
    ],
    [
      'all of it, if ten times as much was paid',
      {},
      500_000n,
      { ...whole, reason: 'overpaid', counted: { ...part, restMinor: 450_000n } },
    ],
    [
      'what was paid, if one rupiah less was paid',
      {},
      49_999n,
      {
        next: 'paid',
        onchainMicro: 3_076_861n,
        reason: 'amount_differs',
        counted: { ...part, fiatMinor: 49_999n, ausdMicro: 3_076_861n, promisedMicro: 3_076_923n },
      },
    ],
    ['nothing of an amount that is worth nothing', { ausdMicro: 49_999n }, 1n, review('amount_differs')],
    ['nothing of an inexact amount', {}, null, review('amount_differs')],
    [
      'all of it, if what was paid beyond it was refunded before',
      { refundedMinor: 1n },
      50_001n,
      { ...whole, reason: 'overpaid', counted: { ...part, restMinor: 1n, restRefundedMinor: 1n } },
    ],
    [
      'less, if more than the rest was refunded before',
      { refundedMinor: 20_001n },
      50_001n,
      {
        next: 'paid',
        onchainMicro: 1_846_153n,
        reason: 'overpaid',
        counted: { ...part, refundedMinor: 20_000n, restMinor: 1n, restRefundedMinor: 1n },
      },
    ],
    [
      'nothing, if everything was refunded before',
      { refundedMinor: 50_001n },
      50_001n,
      { next: 'refunded', reason: 'refunded_before_credit' },
    ],
  ] as const)('is %s', (_, more, paidMinor, answer) => {
    expect(decideReceipt({ ...settlement, ...more }, { ...charge, paidMinor })).toEqual(answer as never)
  })

  test('is priced like late money, if it was paid too late and one rupiah too much', () => {
    const late = { ...settlement, state: 'expired', expiresAt: new Date(0) } as const
    const receipt = decideReceipt(late, { ...charge, paidAt: new Date(1), paidMinor: 50_001n }, 16_900n)
    expect(receipt).toMatchObject({
      next: 'paid',
      onchainMicro: 2_958_579n,
      reason: 'overpaid',
      counted: { fiatMinor: 50_000n, ausdMicro: 2_958_579n, restMinor: 1n },
    })
  })

  test.each([
    // guard: money of an unverified sender needs manual review
    ['sender_unverified', { senderVerification: 'failed' }],
    ['currency_differs', { currency: 'MYR' }],
  ] as const)('is nothing of money in doubt as a whole: %s', (reason, more) => {
    expect(decideReceipt(settlement, { ...charge, ...more, paidMinor: 50_001n })).toEqual(review(reason) as never)
  })
})

describe('a settlement of which only a part is still owed', () => {
  const settlement: PaymentFacts = { ...open, kind: 'settlement' }
  const receiptOf = (more: Partial<PaymentFacts>, paidMinor = 50_000n) => {
    const receipt = decideReceipt({ ...settlement, ...more }, { ...charge, paidMinor })
    if (!('counted' in receipt)) throw new Error('nothing counts')
    return receipt
  }
  test.each([
    [
      'a third',
      {},
      50_000n,
      1_000_000n,
      { fiatMinor: 16_251n, restMinor: 33_749n, refundedMinor: 0n, restRefundedMinor: 0n },
    ],
    ['one unit', {}, 50_000n, 1n, { fiatMinor: 1n, restMinor: 49_999n, refundedMinor: 0n, restRefundedMinor: 0n }],
    [
      'all but one unit',
      {},
      50_000n,
      3_076_922n,
      { fiatMinor: 50_000n, restMinor: 0n, refundedMinor: 0n, restRefundedMinor: 0n },
    ],
    [
      'a third, of money beyond the promise',
      {},
      60_000n,
      1_000_000n,
      { fiatMinor: 16_251n, restMinor: 43_749n, refundedMinor: 0n, restRefundedMinor: 0n },
    ],
    [
      'a third, of money that was refunded in part',
      { refundedMinor: 20_000n },
      50_000n,
      1_000_000n,
      { fiatMinor: 16_251n, restMinor: 33_749n, refundedMinor: 0n, restRefundedMinor: 20_000n },
    ],
  ] as const)('repays %s, and the rest waits', (_, more, paidMinor, owedMicro, counted) => {
    const reduced = reducedTo(receiptOf(more, paidMinor), owedMicro)!
    expect(reduced).toMatchObject({ next: 'paid', reason: 'overpaid', onchainMicro: owedMicro })
    expect(reduced.counted).toMatchObject({ ...counted, ausdMicro: owedMicro, promisedMicro: 3_076_923n })
    // Nothing of the charge is lost, and the row gives exactly what is ordered.
    expect(reduced.counted.fiatMinor + reduced.counted.restMinor).toBe(paidMinor)
    expect(remainderFloor(reduced.counted)).toBe(owedMicro)
  })

  test.each([3_076_923n, 3_076_924n, 10n ** 12n])(
    'stays as it is if %p are owed, as much as it gives or more',
    (owedMicro) => {
      expect(reducedTo(receiptOf({}), owedMicro)).toEqual(receiptOf({}))
    },
  )

  test('gives nothing if nothing is owed', () => {
    expect(reducedTo(receiptOf({}), 0n)).toBeUndefined()
  })
})

describe('the decision on money after the end of its checkout', () => {
  const expiresAt = new Date('2026-08-01T02:15:00Z')
  const at = (paidAt: string, more: object = {}) => ({
    payment: { ...open, state: 'expired', expiresAt, ...more } as PaymentFacts,
    charge: { ...charge, paidAt: new Date(paidAt) },
  })
  const late = at('2026-08-01T02:15:00.001Z')
  const lateSettlement = at('2026-08-01T02:15:00.001Z', { kind: 'settlement' })
  const worth = { ausdMicro: 2_958_579n, promisedMicro: 3_076_923n, lateRateMinorPerUsd: 16_900n }
  const waiting = { reason: 'awaiting_rate', providerPaymentId: 'py-1' }
  const locked = { next: 'paid', onchainMicro: 3_076_923n }
  test.each([
    ['at the worse present rate', late, 16_900n, { ...locked, onchainMicro: 2_958_579n, late: worth }],
    ['a settlement at the locked rate, within 1 % of it', lateSettlement, 16_412n, locked],
    [
      'a top-up at the worse present rate, however close',
      late,
      16_251n,
      {
        ...locked,
        onchainMicro: 3_076_733n,
        late: { ausdMicro: 3_076_733n, promisedMicro: 3_076_923n, lateRateMinorPerUsd: 16_251n },
      },
    ],
    ['at the locked rate, the present one being better', late, 15_000n, locked],
    ['as promised, when it was paid at the very end', at('2026-08-01T02:15:00Z'), 16_900n, locked],
    ['not at all without a rate', late, null, { awaitsRate: true }],
    [
      'once there is a rate again',
      at('2026-08-02T00:00:00Z', waiting),
      16_900n,
      { ...locked, onchainMicro: 2_958_579n, late: worth },
    ],
    [
      'without the refunded part, also at the current rate',
      at('2026-08-02T00:00:00Z', { refundedMinor: 20_000n }),
      16_900n,
      { next: 'paid', onchainMicro: 1_775_147n, late: worth, reason: 'refunded_in_part' },
    ],
    [
      'for nothing after a full refund, at any rate',
      at('2026-08-02T00:00:00Z', { ...waiting, refundedMinor: 50_000n }),
      null,
      { next: 'refunded', reason: 'refunded_before_credit' },
    ],
    [
      'with other money already waiting',
      at('2026-08-02T00:00:00Z', { ...waiting, providerPaymentId: 'py-2' }),
      16_900n,
      { overpaid: true },
    ],
  ] as const)('counts %s', (_, { payment, charge: money }, present, answer) => {
    expect(withoutPart(decideReceipt(payment, money, present))).toEqual(answer as never)
  })

  test('is retried permanently while there is no rate', () => {
    const quiet = { state: 'expired', createdAt: then, expiresAt, reason: 'awaiting_rate' } as const
    const weekLaterMs = expiresAt.getTime() + 604_800_000
    const at = nextCheck({ ...quiet, checks: 30 }, weekLaterMs, 20_000)
    expect(at?.getTime()).toBe(weekLaterMs + 600_000)
  })
})

const then = new Date(0)
const onHold = { held: true, creditedAt: then } as const

/** Decision after one rupiah went back. */
const revoking = { next: 'revoking', reason: 'refunded_during_hold', leftMicro: 3_076_861n }

describe('the decision on an order that is final on the chain', () => {
  const settlement = { ...paid, kind: 'settlement' } as const
  test.each([
    ['credits', paid, { next: 'credited' }],
    ['holds', { ...paid, held: true }, { next: 'held' }],
    ['repays', settlement, { next: 'repaid' }],
    ['repays a held amount at once', { ...settlement, held: true }, { next: 'repaid' }],
    ['revokes a held amount after its refund', { ...paid, held: true, refundedMinor: 1n }, revoking],
    ['revokes a held repayment', { ...settlement, held: true, refundedMinor: 1n }, revoking],
    [
      'revokes the whole held amount if a deducted refund is undone',
      { ...paid, held: true, onchainMicro: 1_846_153n, refundAppliedMinor: 20_000n },
      { next: 'revoking', reason: 'refund_undone', leftMicro: 0n },
    ],
    ['cannot revoke a credit', { ...paid, refundedMinor: 1n }, review('refunded_after_credit')],
    [
      'holds a remainder whose refund is counted',
      { ...paid, held: true, refundedMinor: 5n, refundAppliedMinor: 5n },
      { next: 'held' },
    ],
    ['shows a second payment', { ...paid, overpaidMinor: 1n }, review('paid_twice')],
    ['ignores a repeated result', { ...paid, state: 'credited' }, stay],
  ] as const)('%s', (_, payment, step) => {
    expect(decideSettled(payment as PaymentFacts)).toEqual(step as never)
  })

  test.each([
    ['held', 0n, { next: 'credited' }],
    ['held', 1n, review('paid_twice')],
    ['repaid', 0n, stay],
    ['repaid', 1n, review('paid_twice')],
    ['revoking', 0n, stay],
  ] as const)('the end of a hold leads from %s with %p overpaid', (state, overpaidMinor, step) => {
    expect(decideMatured({ ...paid, state, overpaidMinor })).toEqual(step as never)
  })

  const kept = { reason: 'refunded_in_part' } as const
  test.each([
    ['topup', 'revoked', 50_000n, 0n, {}],
    ['topup', 'held', 20_000n, 1_846_153n, kept],
    ['settlement', 'repaid', 20_000n, 1_846_153n, kept],
    ['topup', 'paid', 20_000n, 0n, { ...kept, remainderMicro: 1_846_153n }],
    ['topup', 'paid', 0n, 0n, { reason: 'refund_undone', remainderMicro: 3_076_923n }],
    ['topup', 'revoking', 30_000n, 1_846_153n, { reason: 'refunded_during_hold', leftMicro: 1_230_769n }],
    ['topup', 'revoking', 10_000n, 1_846_153n, { reason: 'refund_undone', leftMicro: 0n }],
  ] as const)(
    'a revocation of a %s leads to %s if %p was refunded and %p is left on the chain',
    (kind, next, refundedMinor, onchainMicro, more) => {
      const step = { next, ...more }
      const facts = { ...paid, state: 'revoking', kind, refundedMinor, onchainMicro } as const
      expect(decideRevoked(facts)).toEqual(step as never)
      expect(decideRevoked({ ...facts, state: 'held' })).toEqual(stay as never)
    },
  )
})

describe('a refund that failed after all', () => {
  const undone = { next: 'review', reason: 'refund_undone', undone: true }
  const again = { next: 'revoking', reason: 'refund_undone', leftMicro: 0n }
  const lapsed = {
    refundedMinor: 0n,
    refundAppliedMinor: 20_000n,
    onchainMicro: 1_846_153n,
    creditedAt: then,
  }
  test.each([
    ['held', 'on hold', { held: true }, again],
    ['repaid', 'on hold', { held: true }, again],
    ['revoking', 'on hold', { held: true }, stay],
    ['revoked', 'on hold', { held: true }, undone],
    ['refunded', 'as promised', {}, undone],
    ['refunded', 'with another amount', { paidMinor: 40_000n }, { ...undone, reason: 'amount_differs' }],
    ['credited', 'for good', {}, review('refund_undone')],
    ['repaid', 'for good', {}, review('refund_undone')],
    ['paid', 'and ordered', {}, stay],
  ] as const)('leads from %s %s', (state, _, more, step) => {
    expect(decideRefunded({ ...paid, ...lapsed, ...more, state })).toEqual(step as never)
  })

  test('that covered all late money without a rate ends the payment', () => {
    const late = { ...paid, state: 'expired', reason: 'awaiting_rate' } as const
    const step = { next: 'refunded', reason: 'refunded_before_credit' }
    expect(decideRefunded({ ...late, refundedMinor: 50_000n })).toEqual(step as never)
    expect(decideRefunded({ ...late, refundedMinor: 10_000n })).toEqual(stay as never)
  })

  test.each([
    ['the whole refund', 0n, 0n, { next: 'credited', reason: 'refund_undone' }],
    ['a part of it', 20_000n, 0n, stay],
  ] as const)('leads from review if it was %s', (_, refundedMinor, refundAppliedMinor, step) => {
    const reason = 'refunded_after_credit'
    const facts = { ...paid, state: 'review', reason, creditedAt: then } as const
    const decided = decideRefunded({ ...facts, refundedMinor, refundAppliedMinor })
    expect(decided).toEqual(step as never)
  })
})

describe('a refund or a second payment while', () => {
  test.each([
    ['awaiting_payment', {}, stay, review('paid_twice')],
    ['paid', {}, stay, stay],
    ['held', onHold, revoking, stay],
    ['revoking', {}, stay, stay],
    ['credited', {}, review('refunded_after_credit'), review('paid_twice')],
    ['repaid', {}, review('refunded_after_credit'), review('paid_twice')],
    ['repaid', onHold, revoking, stay],
    ['repaid', { ...onHold, holdEndedAt: then }, review('refunded_after_credit'), review('paid_twice')],
    ['revoked', {}, stay, review('paid_twice')],
    ['refunded', {}, stay, review('paid_twice')],
    ['review', {}, stay, stay],
  ] as const)('%s %o', (state, more, onRefund, onSecond) => {
    const payment = { ...paid, ...more, state } as PaymentFacts
    expect(decideRefunded({ ...payment, refundedMinor: 1n })).toEqual(onRefund as never)
    expect(decideRefunded({ ...payment, refundedMinor: 1n, refundAppliedMinor: 1n })).toEqual(stay as never)
    expect(decideOverpaid(payment)).toEqual(onSecond as never)
  })
})

describe('the loss by a reversed payment is', () => {
  const credited = { ...paid, state: 'credited', creditedAt: then } as const
  const revoked = { ...credited, state: 'revoked' } as const
  const all = { refundedMinor: 50_000n } as const
  const twice = { refundedMinor: 100_000n } as const
  const charged = { feeMinor: 1_250n, ausdMicro: 3_000_000n, onchainMicro: 3_000_000n } as const
  test.each([
    ['all of it, after the credit', { ...credited, ...all }, 3_076_923n],
    ['a part of it, rounded up', { ...credited, refundedMinor: 20_000n }, 1_230_770n],
    ['nothing, before the credit', { ...paid, ...all }, 0n],
    ['nothing, while the chain can revoke it', { ...paid, ...onHold, ...all, state: 'repaid' }, 0n],
    ['nothing, during its revocation', { ...paid, ...onHold, ...all, state: 'revoking' }, 0n],
    ['all of it, after a late revocation', { ...paid, ...onHold, ...all, state: 'review' }, 3_076_923n],
    ['nothing, when it was never credited', { ...paid, ...all, state: 'review' }, 0n],
    [
      'what made good an earlier loss, too',
      { ...credited, ...all, onchainMicro: 1_000_000n, recoveredMicro: 2_076_923n },
      3_076_923n,
    ],
    ['the remainder', { ...credited, ...all, onchainMicro: 1_846_153n, refundAppliedMinor: 20_000n }, 1_846_153n],
    [
      'nothing of a refund of ours',
      {
        ...credited,
        refundedMinor: 20_000n,
        refundAppliedMinor: 20_000n,
        writtenOffMicro: 1_230_770n,
      },
      0n,
    ],
    ['the rest of it', { ...credited, ...all, refundAppliedMinor: 20_000n, writtenOffMicro: 1_230_770n }, 1_846_153n],
    ['all of it twice, refunded and disputed', { ...credited, ...twice }, 6_153_846n],
    ['all of it, less the fee that bought nothing', { ...credited, ...all, ...charged }, 3_000_000n],
    ['all of it twice, with a fee that bought nothing', { ...credited, ...twice, ...charged }, 6_076_924n],
    ['as much again, when it was revoked', { ...revoked, ...twice }, 3_076_923n],
    ['one sen again, rounded up', { ...revoked, refundedMinor: 50_001n }, 62n],
    ['as much again, when it was never credited', { ...paid, ...twice, state: 'refunded' }, 3_076_923n],
    [
      'a second payment that went back twice',
      { ...credited, overpaidMinor: 20_000n, overpaidRefundedMinor: 40_000n },
      1_230_770n,
    ],
    ['nothing of an inexact amount', { ...revoked, ...twice, paidMinor: null }, 0n],
    ['nothing in another currency', { ...paid, ...twice, reason: 'currency_differs' }, 0n],
  ] as const)('%s', (_, payment, micro) => {
    expect(lostMicro({ ...exact, ...(payment as PaymentFacts & BackFacts) })).toBe(micro)
  })
})

describe('a refund that we ordered', () => {
  const given = { ...paid, creditedAt: then }
  const onHold = { ...given, held: true }
  test.each([
    ['of a credited top-up', { ...given, state: 'credited' }],
    ['after its hold', { ...onHold, state: 'credited', holdEndedAt: then }],
    ['of a repaid settlement', { ...given, kind: 'settlement', state: 'repaid' }],
    ['whose revocation was given up while on hold', { ...onHold, state: 'review' }],
  ] as const)('%s causes no loss', (_, payment) => {
    const refunded = { ...exact, ...payment, refundedMinor: 50_000n }
    expect(lostMicro(refunded)).toBe(3_076_923n)
    expect(lostMicro({ ...refunded, ...waiverOf(payment, 0n, 50_000n) })).toBe(0n)
  })

  const revoked = { ...given, state: 'refunding', onchainMicro: 1_846_153n, refundAppliedMinor: 20_000n } as const
  test.each([
    ['of the part that came back', 0n, 20_000n, 20_000n],
    ['of less than the part', 0n, 10_000n, 20_000n],
    ['that comes back once more', 20_000n, 0n, 20_000n],
  ] as const)(
    'for AUSD that was revoked before, %s, writes nothing off',
    (_, refundedMinor, next, refundAppliedMinor) => {
      const waived = waiverOf({ ...revoked, refundedMinor }, refundedMinor, next)
      expect(waived).toEqual({ writtenOffMicro: 0n, refundAppliedMinor })
    },
  )

  test('for AUSD of which a part was revoked before waives the rest, and ends that alone', () => {
    const waived = { ...revoked, ...waiverOf(revoked, 0n, 30_000n), refundedMinor: 30_000n }
    expect(waived).toMatchObject({ writtenOffMicro: 615_384n, refundAppliedMinor: 30_000n })
    expect(lostMicro({ ...exact, ...waived })).toBe(0n)
    expect(waiverOf(waived, 30_000n, 0n)).toEqual({ writtenOffMicro: 0n, refundAppliedMinor: 20_000n })
  })

  test('of all money that is made twice stays waived when one of the two comes back', () => {
    const twice = { ...credited, ...waiverOf(credited, 0n, 50_000n), refundedMinor: 50_000n }
    const made = { ...twice, ...waiverOf(twice, 50_000n, 100_000n), refundedMinor: 100_000n }
    expect(made).toMatchObject({ writtenOffMicro: 3_076_923n, refundAppliedMinor: 100_000n })
    const onceAgain = { writtenOffMicro: 3_076_923n, refundAppliedMinor: 50_000n }
    expect(waiverOf(made, 100_000n, 50_000n)).toEqual(onceAgain)
    expect(waiverOf(made, 100_000n, 0n)).toEqual({ writtenOffMicro: 0n, refundAppliedMinor: 0n })
  })

  const credited = { ...exact, ...given, state: 'credited' } as const
  const ordered = (payment: typeof credited, fromMinor: bigint, toMinor: bigint) => {
    const refundedMinor = payment.refundedMinor + toMinor - fromMinor
    return { ...payment, ...waiverOf(payment, fromMinor, toMinor), refundedMinor }
  }
  const disputed = (payment: typeof credited, minor: bigint) => ({
    ...payment,
    refundedMinor: payment.refundedMinor + minor,
  })
  const part = 20_000n
  const whole = 50_000n
  test.each([
    ['all of it', whole, whole],
    ['a part each', part, part],
    ['more than it together', part, whole],
    ['more than it together, the other way round', whole, part],
  ])('is waived beside a dispute, in any order: %s', (_, orderedMinor, disputedMinor) => {
    const first = disputed(ordered(credited, 0n, orderedMinor), disputedMinor)
    const last = ordered(disputed(credited, disputedMinor), 0n, orderedMinor)
    expect(last).toEqual(first)
    const won = disputed(last, -disputedMinor)
    expect(lostMicro(won)).toBe(0n)
    const failed = ordered(last, orderedMinor, 0n)
    expect(failed).toEqual(disputed(credited, disputedMinor))
    expect(lostMicro(last)).toBeLessThanOrEqual(lostMicro(failed))
  })

  test.each([
    ['a held top-up', { ...onHold, state: 'held' }],
    ['a repaid settlement', { ...onHold, kind: 'settlement', state: 'repaid' }],
  ] as const)('of %s on hold is revoked on the chain', (_, payment) => {
    expect(waiverOf(payment, 0n, 50_000n)).toEqual({})
  })
})

describe('every decided step', () => {
  const kinds = ['topup', 'settlement'] as const
  const amounts = [0n, 20_000n, 50_000n]
  const decisions = [decideSettled, decideMatured, decideRevoked, decideRefunded, decideOverpaid]
  const possible = (kind: 'topup' | 'settlement', state: PaymentState) =>
    mayBecome({ kind, state }, 'review') || state === 'review'

  test.each(kinds)('of a %s is a transition of its lifecycle', (kind) => {
    for (const state of paymentStates.filter((name) => possible(kind, name)))
      for (const refundedMinor of amounts)
        for (const overpaidMinor of amounts)
          for (const held of [true, false])
            for (const decide of decisions) {
              const credited = state === 'repaid' ? then : null
              const facts = {
                ...paid,
                kind,
                state,
                held,
                refundedMinor,
                overpaidMinor,
                creditedAt: credited,
              }
              const step = decide(facts)
              if ('next' in step) expect([state, step, mayBecome(facts, step.next)]).toEqual([state, step, true])
            }
  })
})
