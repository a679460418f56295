import { describe, expect, test } from 'bun:test'
import { type Back, backOf } from './losses/report'
import { type BackFacts, type PaymentFacts, paymentStates } from './payment'
import { type HoldPhase, type Reported, type Stance, stanceOf } from './stance'

/** Rp 50,000 for 3.076923 AUSD, on the chain through a channel that is never held. */
const credited: PaymentFacts & BackFacts = {
  kind: 'topup',
  state: 'credited',
  currency: 'IDR',
  fiatMinor: 50_000n,
  ausdMicro: 3_076_923n,
  feeMinor: 0n,
  topupFees: null,
  onchainMicro: 3_076_923n,
  leftMicro: 0n,
  recoveredMicro: 0n,
  writtenOffMicro: 0n,
  providerPaymentId: 'py-1',
  held: false,
  creditedAt: new Date(1),
  holdEndedAt: null,
  refundedMinor: 0n,
  refundAppliedMinor: 0n,
  overpaidMinor: 0n,
  overpaidRefundedMinor: 0n,
  paidMinor: 50_000n,
  rateMinorPerUsd: 16_250n,
  expiresAt: null,
}
const waiting = { ...credited, state: 'paid', creditedAt: null } as const
const settlement = { kind: 'settlement', state: 'repaid' } as const
const held = { ...credited, state: 'held', held: true } as const
const heldWaiting = { ...waiting, held: true } as const
const over = { held: true, holdEndedAt: new Date(2) } as const
const refunded = { refundedMinor: 50_000n } as const
const revoked = { ...credited, state: 'revoked', held: true, onchainMicro: 0n, ...refunded } as const

const none: Back & { othersMayGoMinor: bigint } = {
  goneMinor: 0n,
  orderedMinor: 0n,
  mayGoMinor: 0n,
  orderedOpenMinor: 0n,
  mayGoOtherwiseMinor: 0n,
  isOpen: false,
  othersMayGoMinor: 0n,
}
const open = { ...none, mayGoMinor: 50_000n, mayGoOtherwiseMinor: 50_000n, isOpen: true }
const openPart = { ...none, mayGoMinor: 10_000n, mayGoOtherwiseMinor: 10_000n, isOpen: true }
const gone = { ...none, goneMinor: 50_000n, mayGoMinor: 50_000n, mayGoOtherwiseMinor: 50_000n }
const goneAndOpen = { ...gone, mayGoMinor: 100_000n, mayGoOtherwiseMinor: 100_000n, isOpen: true }
const doubtful = { ...gone, isOpen: true }
const openOrdered = { ...openPart, mayGoOtherwiseMinor: 0n, orderedOpenMinor: 10_000n }
const openBeside = { ...openPart, mayGoMinor: 30_000n, mayGoOtherwiseMinor: 20_000n, orderedOpenMinor: 10_000n }

const openOrderedOrVoid = backOf(
  [
    { id: 'rfd-1', origin: 'ordered', status: 'pending', refundedMinor: 50_000n, objectId: null },
    { id: 'void:py-1', origin: 'void', status: 'unknown', refundedMinor: 50_000n, objectId: null },
  ],
  50_000n,
)

type Case = readonly [string, PaymentFacts & BackFacts, Reported, Stance]
const check = (cases: readonly Case[], phase?: HoldPhase) =>
  test.each(cases)('%s', (_, payment, reported, stance) => {
    expect(stanceOf(payment, reported, phase)).toBe(stance)
  })

describe('money that the chain cannot take back', () => {
  check([
    ['is free without a report', credited, none, 'free'],
    ['is frozen while all of it may go back', credited, open, 'freeze'],
    ['is frozen while a part may go back', credited, openPart, 'freeze'],
    [
      'is free of doubt once it is a loss, which freezes by itself',
      { ...credited, ...refunded, state: 'review' },
      gone,
      'free',
    ],
    [
      'is frozen beside its loss while it is disputed as well',
      { ...credited, ...refunded, state: 'review' },
      goneAndOpen,
      'freeze',
    ],
    [
      'is not frozen twice for a charge that is refunded and may be void',
      { ...credited, ...refunded, state: 'review' },
      doubtful,
      'free',
    ],
    ['is frozen after its hold', { ...credited, ...over }, open, 'freeze'],
    ['is frozen if it repaid a debt', { ...credited, ...settlement }, open, 'freeze'],
    ['is frozen if it repaid a debt and its hold is over', { ...credited, ...settlement, ...over }, open, 'freeze'],
    [
      'is frozen if all of it covered an earlier loss',
      { ...credited, onchainMicro: 0n, recoveredMicro: 3_076_923n, creditedAt: null },
      open,
      'freeze',
    ],
    ['is frozen if its revocation failed', { ...credited, state: 'review', held: true }, open, 'freeze'],
    ['is frozen if an operator accepted it', { ...credited, state: 'accepted' }, open, 'freeze'],
    ['is free while we refund a part of it ourselves', credited, openOrdered, 'free'],
    ['is frozen while it is disputed beside that', credited, openBeside, 'freeze'],
    ['is free as far as the provider cannot be asked', credited, 'unread', 'free'],
  ])

  // guard: a charge in doubt freezes the wallet also while we refund it
  test('is frozen while its charge is in doubt, also while we refund it ourselves', () => {
    expect(stanceOf(credited, { ...openOrderedOrVoid, othersMayGoMinor: 0n })).toBe('freeze')
  })
})

describe('money whose order waits', () => {
  check([
    ['is free without a report', waiting, none, 'free'],
    ['is frozen while it may go back', waiting, open, 'freeze'],
    ['is frozen once it has gone back', { ...waiting, ...refunded }, gone, 'freeze'],
    ['is frozen for a settlement as well', { ...waiting, kind: 'settlement', ...refunded }, gone, 'freeze'],
    [
      'is free of what went back before its order',
      { ...waiting, onchainMicro: 1_846_153n, refundedMinor: 20_000n, refundAppliedMinor: 20_000n },
      { ...none, goneMinor: 20_000n, mayGoMinor: 20_000n },
      'free',
    ],
    ['goes on hold if it can be reversed', heldWaiting, none, 'hold'],
    ['goes on a hold that must not end while it may go back', heldWaiting, open, 'extend'],
    ['goes on a hold that must not end once it has gone back', { ...heldWaiting, ...refunded }, gone, 'extend'],
    ['is free once its order has failed', { ...waiting, state: 'review', ...refunded }, gone, 'free'],
  ])
})

describe('money that was never given', () => {
  check([
    [
      'is free while it may go back',
      { ...credited, state: 'review', onchainMicro: 0n, creditedAt: null },
      open,
      'free',
    ],
    ['is free after it was refunded', { ...revoked, state: 'refunded', creditedAt: null }, gone, 'free'],
    ['is free after it was revoked', revoked, gone, 'free'],
    ['freezes the wallet while it is disputed after its refund', revoked, goneAndOpen, 'freeze'],
    [
      'freezes the wallet while a second charge is disputed after its refund',
      { ...revoked, overpaidMinor: 50_000n, overpaidRefundedMinor: 50_000n },
      { ...gone, othersMayGoMinor: 100_000n, isOpen: true },
      'freeze',
    ],
    [
      'is free while only a second charge is disputed',
      { ...credited, overpaidMinor: 50_000n },
      { ...none, othersMayGoMinor: 50_000n },
      'free',
    ],
  ])
})

const onHold = [
  ['a top-up', held],
  ['a settlement', { ...held, ...settlement }],
  ['a payment whose order the relayer has not reported', heldWaiting],
] as const
describe.each(onHold)('%s on hold', (_, payment) => {
  test.each([
    ['nothing reported', none, 'hold', 'hold', 'free'],
    // guard: a hold does not end while its refunds cannot be read
    ['the provider away', 'unread', 'hold', 'extend', 'freeze'],
    // guard: a wallet is frozen if its hold ended while its money may be going back
    ['a refund pending', open, 'extend', 'extend', 'freeze'],
    // guard: a hold does not end before refunded money is revoked
    ['a refund made', gone, 'extend', 'extend', 'freeze'],
    ['a charge that is refunded and may be void', doubtful, 'extend', 'extend', 'freeze'],
  ] as const)('with %s', (_, reported, early, last, ended) => {
    const phases: readonly HoldPhase[] = ['early', 'last', 'ended']
    expect(phases.map((phase) => stanceOf(payment, reported, phase))).toEqual([early, last, ended])
  })

  test('that is being revoked does not end before its revocation is final', () => {
    const revoking = { ...payment, state: 'revoking', creditedAt: new Date(1) } as const
    const phases: readonly HoldPhase[] = ['early', 'last', 'ended']
    expect(phases.map((phase) => stanceOf(revoking, 'unread', phase))).toEqual(['extend', 'extend', 'freeze'])
  })
})

test('in no state is money kept without a report, unless it is on hold or being revoked', () => {
  for (const state of paymentStates)
    for (const one of [credited, held, waiting, heldWaiting]) {
      const stance = stanceOf({ ...one, state }, none)
      const kept = stance !== 'free'
      expect([state, stance]).toEqual([state, kept ? (state === 'revoking' ? 'extend' : 'hold') : 'free'])
    }
})

test('in every state with money on the chain, an open dispute keeps it', () => {
  const withMoney = ['credited', 'repaid', 'held', 'revoking', 'review', 'refunding', 'accepted', 'paid'] as const
  for (const state of withMoney)
    for (const one of [credited, held, { ...credited, ...over }])
      expect([state, stanceOf({ ...one, state }, open)]).not.toEqual([state, 'free'])
})
