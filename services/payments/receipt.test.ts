import { describe, expect, test } from 'bun:test'
import {
  type Charge,
  mayBecome,
  type PaymentFacts,
  type PaymentState,
  paymentIdFrom,
  paymentStates,
} from './payment'
import {
  decideMatured,
  decideOverpaid,
  decideReceipt,
  decideRefunded,
  decideRevoked,
  decideSettled,
} from './receipt'

const open: PaymentFacts = {
  ...{ kind: 'topup', state: 'awaiting_payment', currency: 'IDR', fiatMinor: 50_000n },
  ...{ providerPaymentId: null, held: null, refundedMinor: 0n, overpaidMinor: 0n },
}
const paid: PaymentFacts = { ...open, state: 'paid', providerPaymentId: 'py-1', held: false }
const charge: Charge = {
  ...{ account: 'ID', paymentId: 'py-1', paymentRequestId: 'pr-1', reference: 'r' },
  ...{ currency: 'IDR', paidMinor: 50_000n, channel: 'QRIS', paidAt: null },
}
const stay = { stay: true }
const review = (reason: string) => ({ next: 'review', reason })

describe('money that arrives', () => {
  test.each([
    ['in time', open, charge, { next: 'paid' }],
    ['after the checkout closed', { ...open, state: 'expired' }, charge, { next: 'paid' }],
    ['before we knew the checkout', { ...open, state: 'opening' }, charge, { next: 'paid' }],
    ['for a settlement', { ...open, kind: 'settlement' }, charge, { next: 'paid' }],
    ['again', paid, charge, { known: true }],
    ['again, after the credit', { ...paid, state: 'credited' }, charge, { known: true }],
    ['a second time', paid, { ...charge, paymentId: 'py-2' }, { overpaid: true }],
    ['one short', open, { ...charge, paidMinor: 49_999n }, review('amount_differs')],
    ['one over', open, { ...charge, paidMinor: 50_001n }, review('amount_differs')],
    ['in no exact amount', open, { ...charge, paidMinor: null }, review('amount_differs')],
    ['in other money', open, { ...charge, currency: 'MYR' }, review('currency_differs')],
    [
      'already given back',
      { ...open, refundedMinor: 50_000n },
      charge,
      { next: 'refunded', reason: 'refunded_before_credit' },
    ],
    ['partly given back', { ...open, refundedMinor: 1n }, charge, review('refunded_in_part')],
  ] as const)('%s', (_, payment, money, answer) => {
    expect(decideReceipt(payment as PaymentFacts, money)).toEqual(answer as never)
  })
})

describe('an order that is final on the chain', () => {
  const revoking = { next: 'revoking', reason: 'refunded_during_hold' }
  test.each([
    ['credits', paid, { next: 'credited' }],
    ['holds', { ...paid, held: true }, { next: 'held' }],
    ['repays', { ...paid, kind: 'settlement' }, { next: 'repaid' }],
    ['revokes what was refunded and is held', { ...paid, held: true, refundedMinor: 1n }, revoking],
    ['cannot revoke a credit', { ...paid, refundedMinor: 1n }, review('refunded_after_credit')],
    ['shows a second payment', { ...paid, overpaidMinor: 1n }, review('paid_twice')],
    ['is told twice', { ...paid, state: 'credited' }, stay],
  ] as const)('%s', (_, payment, step) => {
    expect(decideSettled(payment as PaymentFacts)).toEqual(step as never)
  })

  test.each([
    ['held', 0n, { next: 'credited' }],
    ['held', 1n, review('paid_twice')],
    ['revoking', 0n, stay],
  ] as const)('a hold that ended leads from %s with %p overpaid', (state, overpaidMinor, step) => {
    expect(decideMatured({ ...paid, state, overpaidMinor })).toEqual(step as never)
  })

  test.each([
    ['revoking', 50_000n, { next: 'revoked' }],
    ['revoking', 20_000n, review('refunded_in_part')],
    ['revoked', 50_000n, stay],
  ] as const)('a revocation leads from %s with %p refunded', (state, refundedMinor, step) => {
    expect(decideRevoked({ ...paid, state, refundedMinor })).toEqual(step as never)
  })
})

describe('a refund or a second payment while', () => {
  test.each([
    ['awaiting_payment', stay, review('paid_twice')],
    ['paid', stay, stay],
    ['held', { next: 'revoking', reason: 'refunded_during_hold' }, stay],
    ['revoking', stay, stay],
    ['credited', review('refunded_after_credit'), review('paid_twice')],
    ['repaid', review('refunded_after_credit'), review('paid_twice')],
    ['revoked', stay, review('paid_twice')],
    ['refunded', stay, review('paid_twice')],
    ['review', stay, stay],
  ] as const)('%s', (state, onRefund, onSecond) => {
    expect(decideRefunded({ ...paid, state })).toEqual(onRefund as never)
    expect(decideOverpaid({ ...paid, state })).toEqual(onSecond as never)
  })
})

describe('every decided step', () => {
  const kinds = ['topup', 'settlement'] as const
  const amounts = [0n, 20_000n, 50_000n]
  const decisions = [decideSettled, decideMatured, decideRevoked, decideRefunded, decideOverpaid]
  const possible = (kind: 'topup' | 'settlement', state: PaymentState) =>
    mayBecome({ kind, state }, 'review') || state === 'review'

  test.each(kinds)('of a %s is in its lifecycle', (kind) => {
    for (const state of paymentStates.filter((name) => possible(kind, name)))
      for (const refundedMinor of amounts)
        for (const overpaidMinor of amounts)
          for (const held of kind === 'topup' ? [true, false] : [false])
            for (const decide of decisions) {
              const facts = { ...paid, kind, state, held, refundedMinor, overpaidMinor }
              const step = decide(facts)
              if ('next' in step)
                expect([state, step, mayBecome(facts, step.next)]).toEqual([state, step, true])
            }
  })
})

describe('the payment id in a reference', () => {
  const id = 'pay_AbC-_fGhIjKlMnOpQrStUv'
  test.each([
    [id, id],
    [`${id}_1f2e3d4c-1`, id],
    [`${id}x`, undefined],
    [id.slice(0, -1), undefined],
    ['order-7001', undefined],
    [`x${id}`, undefined],
  ])('%s gives %p', (reference, found) => {
    expect(paymentIdFrom(reference)).toBe(found)
  })
})
