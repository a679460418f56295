import { describe, expect, test } from 'bun:test'
import { getTableColumns } from 'drizzle-orm'
import fc from 'fast-check'
import { difference, unbalanced } from '#shared/ledger/position'
import { lostMicro, needlessWaiverOf, waiverOf } from '../decide'
import {
  least,
  type PaymentKind,
  type PaymentState,
  paymentStates,
  reasons,
  remainderFloor,
  settlementLifecycle,
  topupLifecycle,
} from '../payment'
import { payments } from '../payment.table'
import { positionOf } from './position'

type Booked = Parameters<typeof positionOf>[0]

const opened: Booked = {
  kind: 'topup',
  state: 'opening',
  account: 'ID',
  currency: 'IDR',
  reason: null,
  fiatMinor: 1_625_000n,
  rateMinorPerUsd: 16_250n,
  ausdMicro: 100_000_000n,
  feeMinor: 0n,
  topupFees: null,
  spreadBps: 0,
  expiresAt: null,
  providerPaymentId: null,
  held: null,
  paidMinor: null,
  onchainMicro: 0n,
  leftMicro: 0n,
  recoveredMicro: 0n,
  writtenOffMicro: 0n,
  overpaidMinor: 0n,
  overpaidRefundedMinor: 0n,
  refundedMinor: 0n,
  refundAppliedMinor: 0n,
  creditedAt: null,
  holdEndedAt: null,
}
const someTime = new Date('2026-11-20T00:00:00Z')
const received = { providerPaymentId: 'py-1', paidMinor: opened.fiatMinor }
const paid = { ...received, held: true, onchainMicro: opened.ausdMicro }
const onChain = { ...paid, creditedAt: someTime }
const refunded = { refundedMinor: opened.fiatMinor }

/** Facts of a row in each state; the row in `review` had unmatched money. */
const facts: { readonly [state in PaymentState]: Partial<Booked> } = {
  opening: {},
  awaiting_payment: {},
  expired: {},
  replaced: {},
  paid,
  held: onChain,
  credited: { ...onChain, holdEndedAt: someTime },
  repaid: onChain,
  revoking: { ...onChain, ...refunded },
  revoked: { ...onChain, ...refunded, onchainMicro: 0n },
  refunded: { ...received, ...refunded },
  review: { ...received, paidMinor: 1_000_000n, reason: 'amount_differs' },
  refunding: { ...received, paidMinor: 1_000_000n, reason: 'amount_differs' },
  accepted: { ...received, paidMinor: 1_000_000n, reason: 'amount_differs' },
}
const row = (kind: PaymentKind, state: PaymentState, more: Partial<Booked> = {}): Booked => ({
  ...opened,
  kind,
  state,
  ...facts[state],
  ...more,
})

const nobodyPaid = 'nothing was paid'
const givenBack = 'paid and refunded before any promise'
const counted = 'its cause was booked when it was counted'
const stands = 'the promise stands until an operator decides'

const silent: Readonly<Record<string, string>> = {
  'opening → awaiting_payment': nobodyPaid,
  'opening → expired': nobodyPaid,
  'opening → replaced': nobodyPaid,
  'opening → refunded': givenBack,
  'awaiting_payment → expired': nobodyPaid,
  'awaiting_payment → replaced': nobodyPaid,
  'awaiting_payment → refunded': givenBack,
  'expired → refunded': givenBack,
  'replaced → refunded': givenBack,
  'paid → review': stands,
  'held → revoking': counted,
  'held → review': counted,
  'credited → review': counted,
  'repaid → revoking': counted,
  'repaid → review': counted,
  'revoking → review': stands,
  'revoked → review': counted,
  'refunded → review': counted,
  'review → refunding': 'nothing has gone back yet',
  'refunding → refunded': counted,
  'refunding → credited': counted,
  'refunding → repaid': counted,
  'refunding → revoked': counted,
  'credited → refunding': 'nothing has gone back yet',
  'refunding → accepted': counted,
  'accepted → credited': counted,
  'refunding → review': stands,
}
/** Facts of the row before a step, where they differ from those of its state. */
const before: Readonly<Record<string, Partial<Booked>>> = {
  'accepted → credited': { ...onChain, holdEndedAt: someTime, reason: 'refunded_after_credit' },
  'refunding → accepted': { ...onChain, holdEndedAt: someTime, reason: 'refunded_after_credit' },
  'held → revoking': refunded,
  'repaid → revoking': refunded,
  'revoking → held': { ...onChain, refundedMinor: 406_250n },
  'revoking → repaid': { ...onChain, refundedMinor: 406_250n },
  'refunding → refunded': { ...received, ...refunded, reason: 'amount_differs' },
  'refunding → credited': { ...onChain, holdEndedAt: someTime, reason: 'paid_twice' },
  'refunding → repaid': { ...onChain, reason: 'paid_twice' },
  'refunding → revoked': { ...onChain, ...refunded, onchainMicro: 0n, reason: 'paid_twice' },
}
const kept: Readonly<Record<string, Partial<Booked>>> = {
  'credited → refunding': { ...onChain, holdEndedAt: someTime, reason: null },
  'refunding → accepted': { ...onChain, holdEndedAt: someTime, reason: 'refunded_after_credit' },
  'paid → review': { ...paid, reason: 'credit_failed' },
  'held → review': { ...onChain, reason: 'paid_twice' },
  'credited → review': { ...onChain, holdEndedAt: someTime, reason: 'refunded_after_credit' },
  'repaid → review': { ...onChain, reason: 'refunded_after_credit' },
  'revoking → revoking': { ...onChain, ...refunded, onchainMicro: 75_000_000n },
  'revoking → held': { ...onChain, refundedMinor: 406_250n, onchainMicro: 75_000_000n },
  'revoking → repaid': { ...onChain, refundedMinor: 406_250n, onchainMicro: 75_000_000n },
  'revoking → review': { ...onChain, ...refunded, reason: 'revoke_failed' },
  'revoked → review': { ...onChain, ...refunded, onchainMicro: 0n, reason: 'paid_twice' },
  'refunded → review': { ...received, ...refunded, reason: 'paid_twice' },
  'accepted → review': { ...received, paidMinor: 1_000_000n, reason: 'amount_differs' },
}

const edges = (['topup', 'settlement'] as const).flatMap((kind) =>
  Object.entries<readonly PaymentState[]>(kind === 'topup' ? topupLifecycle : settlementLifecycle).flatMap(
    ([from, next]) => next.map((to) => [kind, from as PaymentState, to] as const),
  ),
)

describe('every step of a payment has a journal entry or a documented reason for none:', () => {
  test.each(edges)('%s, %s → %s', (kind, from, to) => {
    const step = `${from} → ${to}`
    const lines = difference(positionOf(row(kind, from, before[step])), positionOf(row(kind, to, kept[step])))
    expect(unbalanced(lines)).toEqual([])
    if (step in silent) expect(lines).toEqual([])
    else expect(lines).not.toEqual([])
  })

  test('each documented reason is about an existing step', () => {
    const there = new Set(edges.map(([, from, to]) => `${from} → ${to}`))
    expect(Object.keys(silent).filter((step) => !there.has(step))).toEqual([])
  })
})

const totals = (booked: Booked) =>
  Object.fromEntries(positionOf(booked).map(({ account, asset, amount }) => [`${account} ${asset}`, amount]))

describe('the journal records a change without a step:', () => {
  test('the end of a hold makes a repayment final', () => {
    const ended = { holdEndedAt: someTime }
    expect(totals(row('settlement', 'repaid'))).toMatchObject({ 'repaid_held AUSD': -100_000_000n })
    expect(totals(row('settlement', 'repaid', ended))).toMatchObject({
      'repaid AUSD': -100_000_000n,
    })
  })

  test('a refund after the credit is owed by the wallet', () => {
    const back = row('topup', 'credited', { refundedMinor: 406_250n })
    expect(totals(back)).toMatchObject({
      'provider_id IDR': 1_218_750n,
      'exchange IDR': -1_218_750n,
      'exchange AUSD': 75_000_000n,
      'clawback AUSD': 25_000_000n,
      'treasury AUSD': -100_000_000n,
    })
  })

  test('a waived refund after the credit is not owed', () => {
    const writtenOffMicro = 25_000_000n
    const back = row('topup', 'credited', { refundedMinor: 406_250n, writtenOffMicro })
    expect(totals(back)).toMatchObject({ 'waived AUSD': 25_000_000n })
    expect(totals(back)).not.toHaveProperty('clawback AUSD')
  })

  test('an amount that covers an earlier reversal reduces the debt of the wallet', () => {
    const shares = { onchainMicro: 60_000_000n, recoveredMicro: 40_000_000n }
    expect(totals(row('topup', 'credited', shares))).toMatchObject({
      'treasury AUSD': -60_000_000n,
      'clawback AUSD': -40_000_000n,
    })
  })

  test('a second payment of the same promise is in suspense', () => {
    const twice = row('topup', 'credited', { overpaidMinor: 1_625_000n })
    expect(totals(twice)).toMatchObject({
      'provider_id IDR': 3_250_000n,
      'suspense IDR': -1_625_000n,
    })
  })

  test('a refunded second payment leaves suspense', () => {
    const back = { overpaidMinor: 1_625_000n, overpaidRefundedMinor: 1_625_000n }
    expect(totals(row('topup', 'credited', back))).toEqual(totals(row('topup', 'credited')))
  })

  test('money of another currency is on no account, and neither is its refund', () => {
    const differs = { ...received, ...refunded, reason: 'currency_differs' } as const
    expect(totals(row('topup', 'review', differs))).toEqual({})
  })

  test('money from an unverified sender creates no promise', () => {
    const unverified = { ...received, reason: 'sender_unverified' } as const
    expect(totals(row('topup', 'review', unverified))).toEqual({
      'provider_id IDR': 1_625_000n,
      'suspense IDR': -1_625_000n,
    })
  })

  test('late money that waits for a rate is in suspense', () => {
    const late = { providerPaymentId: 'py-1', reason: 'awaiting_rate' } as const
    expect(totals(row('topup', 'expired', late))).toEqual({
      'provider_id IDR': 1_625_000n,
      'suspense IDR': -1_625_000n,
    })
  })
})

describe('the spread of a quote', () => {
  const spread = { spreadBps: 100 }

  test('is the extra amount that the payer would get at the base rate', () => {
    expect(totals(row('topup', 'paid', spread))).toMatchObject({
      'exchange AUSD': 101_000_000n,
      'spread AUSD': -1_000_000n,
      'promises AUSD': -100_000_000n,
    })
  })

  test('returns in proportion to a refund', () => {
    const back = row('topup', 'credited', { ...spread, refundedMinor: 406_250n })
    expect(totals(back)).toMatchObject({
      'exchange AUSD': 75_750_000n,
      'spread AUSD': -750_000n,
      'clawback AUSD': 25_000_000n,
    })
  })

  test('is zero after a full refund, in every state, at any spread', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...paymentStates),
        fc.integer({ min: 0, max: 511 }),
        fc.bigInt({ min: 1n, max: 10n ** 12n }),
        (state, spreadBps, ausdMicro) => {
          const back = row('topup', state, { spreadBps, ausdMicro, ...refunded })
          expect(totals(back)).not.toHaveProperty('spread AUSD')
        },
      ),
    )
  })

  test("on late money is the quote's spread on the value of that money", () => {
    const late = { ...spread, ausdMicro: 90_000_000n, onchainMicro: 90_000_000n }
    expect(totals(row('topup', 'paid', late))).toMatchObject({ 'spread AUSD': -900_000n })
  })
})

describe('the fee of a top-up', () => {
  const charged = { feeMinor: 65_000n, ausdMicro: 96_000_000n, onchainMicro: 96_000_000n }

  test('is earned from the money that was paid; AUSD is promised for the rest', () => {
    expect(totals(row('topup', 'paid', charged))).toEqual({
      'provider_id IDR': 1_625_000n,
      'fees_earned IDR': -65_000n,
      'exchange IDR': -1_560_000n,
      'exchange AUSD': 96_000_000n,
      'promises AUSD': -96_000_000n,
    })
  })

  // guard: a refund gives back its part of the fee
  test('goes back with a refund, in proportion and rounded down', () => {
    const back = row('topup', 'held', { ...charged, refundedMinor: 406_249n })
    expect(totals(back)).toMatchObject({ 'fees_earned IDR': -48_750n, 'exchange IDR': 48_750n - 1_218_751n })
    expect(totals(row('topup', 'revoking', charged))).not.toHaveProperty('fees_earned IDR')
  })

  test('is never earned beyond itself, and given back to the last unit, however the money goes back in parts', () => {
    const parts = fc.record({
      fiatMinor: fc.bigInt({ min: 10n, max: 10n ** 12n }),
      feePercent: fc.bigInt({ min: 0n, max: 90n }),
      refunds: fc.array(fc.bigInt({ min: 1n, max: 10n ** 11n }), { maxLength: 6 }),
    })
    fc.assert(
      fc.property(parts, ({ fiatMinor, feePercent, refunds }) => {
        const feeMinor = (fiatMinor * feePercent) / 100n
        let [refundedMinor, before] = [0n, feeMinor]
        for (const refund of [0n, ...refunds, fiatMinor]) {
          refundedMinor = least(refundedMinor + refund, fiatMinor)
          const back = row('topup', 'held', { fiatMinor, paidMinor: fiatMinor, feeMinor, refundedMinor })
          const earned = -(totals(back)['fees_earned IDR'] ?? 0n)
          expect(earned <= before && earned >= 0n).toBe(true)
          // Less than one unit of the fee's share of the money is given back too early.
          expect(earned * fiatMinor + fiatMinor > feeMinor * (fiatMinor - refundedMinor)).toBe(true)
          before = earned
        }
        expect(before).toBe(0n)
      }),
    )
  })

  test('is not earned while the money waits for a decision, nor from a second payment', () => {
    const waits = row('topup', 'review', { ...charged, reason: 'excess_refused' })
    expect(totals(waits)).not.toHaveProperty('fees_earned IDR')
    const twice = row('topup', 'credited', { ...charged, overpaidMinor: 1_625_000n })
    expect(totals(twice)).toMatchObject({ 'fees_earned IDR': -65_000n, 'suspense IDR': -1_625_000n })
  })

  // guard: money that goes back beyond a payment is owed at the rate after the fee
  test('buys nothing, so money that goes back beyond the payment is owed at the rate of the rest', () => {
    const beyond = row('topup', 'credited', { ...charged, refundedMinor: 3_250_000n })
    // Rp 1,625,000 at 96 AUSD for Rp 1,560,000, and the 96 AUSD that were credited.
    expect(totals(beyond)).toMatchObject({ 'clawback AUSD': 196_000_000n, 'provider_id IDR': -1_625_000n })
  })
})

test('the position of any row sums to 0 in every asset', () => {
  const micro = fc.bigInt({ min: 0n, max: 200_000_000n })
  const minor = fc.bigInt({ min: 0n, max: 3_250_000n })
  const time = fc.constantFrom(null, someTime)
  fc.assert(
    fc.property(
      fc.constantFrom(...paymentStates),
      fc.constantFrom<PaymentKind>('topup', 'settlement'),
      fc.record({
        onchainMicro: micro,
        recoveredMicro: micro,
        writtenOffMicro: micro,
        refundedMinor: minor,
        overpaidMinor: minor,
        ausdMicro: micro,
        overpaidRefundedMinor: minor,
        feeMinor: fc.bigInt({ min: 0n, max: opened.fiatMinor - 1n }),
        spreadBps: fc.integer({ min: 0, max: 511 }),
        paidMinor: fc.option(minor),
        creditedAt: time,
        holdEndedAt: time,
        held: fc.constantFrom(true, false, null),
        providerPaymentId: fc.constantFrom(null, 'py-1'),
        reason: fc.constantFrom(null, ...reasons),
      }),
      (state, kind, more) => {
        expect(unbalanced(positionOf({ ...opened, ...more, kind, state }))).toEqual([])
      },
    ),
  )
})

test('the loss by a payment is what its wallet owes in the books', () => {
  const micro = fc.bigInt({ min: 0n, max: 100_000_000n })
  const minor = fc.bigInt({ min: 0n, max: opened.fiatMinor })
  fc.assert(
    fc.property(
      fc.constantFrom<PaymentState>('credited', 'repaid', 'review', 'refunding'),
      fc.record({
        onchainMicro: micro,
        recoveredMicro: micro,
        writtenOffMicro: micro,
        refundedMinor: minor,
        refundAppliedMinor: minor,
        feeMinor: fc.bigInt({ min: 0n, max: opened.fiatMinor - 1n }),
        creditedAt: fc.constantFrom(null, someTime),
      }),
      (state, more) => {
        const payment = { ...opened, ...received, ...more, state, holdEndedAt: someTime }
        const owed = (totals(payment)['clawback AUSD'] ?? 0n) + more.recoveredMicro
        expect(lostMicro(payment)).toBe(owed > 0n ? owed : 0n)
      },
    ),
  )
})

test('refunds that we ordered add nothing to what the wallet owes, whenever and however often they come back', () => {
  const minor = fc.bigInt({ min: 0n, max: opened.fiatMinor / 3n })
  fc.assert(
    fc.property(
      fc.constantFrom<PaymentState>('credited', 'repaid', 'review', 'refunding'),
      fc.bigInt({ min: 1n, max: opened.ausdMicro }),
      minor,
      fc.array(fc.record({ orderedMinor: minor, othersMinor: minor }), { maxLength: 5 }),
      (state, onchainMicro, revokedMinor, steps) => {
        const value = { ...opened, ...received, state, ausdMicro: onchainMicro, creditedAt: someTime }
        const revoked = remainderFloor({ ...value, refundedMinor: revokedMinor })
        const given = { ...value, onchainMicro: revoked, refundAppliedMinor: revokedMinor, holdEndedAt: someTime }
        let [row, ordered] = [given, 0n]
        for (const { orderedMinor, othersMinor } of steps) {
          const byOthers = { ...row, refundedMinor: ordered + othersMinor }
          const waiver = waiverOf(byOthers, ordered, orderedMinor)
          row = { ...row, ...waiver, refundedMinor: orderedMinor + othersMinor }
          ordered = orderedMinor
          const withoutOurs = { ...given, onchainMicro, refundedMinor: othersMinor }
          expect(lostMicro(row)).toBeLessThanOrEqual(lostMicro(withoutOurs))
        }
      },
    ),
  )
})

test('AUSD that was revoked for a refund is missing in the row once every refund has failed, in any order', () => {
  const minor = fc.bigInt({ min: 0n, max: opened.fiatMinor / 3n })
  fc.assert(
    fc.property(
      minor,
      fc.array(fc.record({ orderedMinor: minor, othersMinor: minor }), { maxLength: 5 }),
      (revokedMinor, steps) => {
        const value = { ...opened, ...received, state: 'repaid', ausdMicro: opened.fiatMinor * 61n } as const
        const revoked = remainderFloor({ ...value, refundedMinor: revokedMinor })
        const onHold = { creditedAt: someTime, holdEndedAt: someTime }
        let row = { ...value, ...onHold, onchainMicro: revoked, refundAppliedMinor: revokedMinor }
        let ordered = 0n
        for (const { orderedMinor, othersMinor } of [...steps, { orderedMinor: 0n, othersMinor: 0n }]) {
          row = { ...row, refundedMinor: ordered + othersMinor }
          row = { ...row, ...needlessWaiverOf(row) }
          row = { ...row, ...waiverOf(row, ordered, orderedMinor), refundedMinor: orderedMinor + othersMinor }
          row = { ...row, ...needlessWaiverOf(row) }
          ordered = orderedMinor
        }
        expect(row).toMatchObject({ refundedMinor: 0n, refundAppliedMinor: revokedMinor, writtenOffMicro: 0n })
      },
    ),
  )
})

/** Effect of each amount of a row on its position, or the reason for which it has none. */
const amounts: Readonly<Record<string, string>> = {
  rateMinorPerUsd: 'a rate; its result is in ausdMicro',
  spreadBps: 'the spread within the rate',
  fiatMinor: 'the price of the promise',
  feeMinor: 'earned',
  ausdMicro: 'the value of the payment',
  topupMicro: 'the part of ausdMicro that the limits of top-ups count',
  lateRateMinorPerUsd: 'a rate; its result is in ausdMicro',
  promisedMicro: 'the promise before the payment was late: no AUSD was paid for it',
  paidMinor: 'at the provider',
  onchainMicro: 'on the chain',
  leftMicro: 'ordered to be left on the chain: booked once the revocation is final',
  recoveredMicro: 'kept to make good',
  writtenOffMicro: 'given up',
  refundedMinor: 'gone back',
  refundAppliedMinor: 'gone back and seen to: no money of its own',
  overpaidMinor: 'in suspense',
  overpaidRefundedMinor: 'out of suspense',
}
test('every amount of a row is in its position or has a documented reason', () => {
  const names = Object.keys(getTableColumns(payments))
  const found = names.filter((name) => /(Minor|Micro|MinorPerUsd|Bps)$/.test(name))
  expect(found.sort()).toEqual(Object.keys(amounts).sort())
})
