import { describe, expect, test } from 'bun:test'
import type { ChainEvent } from './event'
import { evolve, fold, Incomplete, unseen, type WalletProjection } from './projection'
import { historyOf } from './record'
import {
  account,
  added,
  at,
  closed,
  cycle,
  defaulted,
  drawn,
  drawnAgain,
  drawnBack,
  extended,
  frozen,
  held,
  heldPart,
  inDefault,
  opened,
  owing,
  partHeld,
  redated,
  repaid,
  resumed,
  reversed,
  revoked,
  seized,
  term,
  txOf,
  verified,
} from './test-support-events'

describe('a record', () => {
  test.each([
    ['nothing', [], unseen],
    ['a verification', [verified(1)], { verified: true, verifiedAtSeconds: 1_001, firstSeenAtSeconds: 1_001 }],
    ['a verification withdrawn', [verified(1), verified(2, false)], { verified: false, verifiedAtSeconds: 1_001 }],
    [
      'a verification given again',
      [verified(1), verified(2, false), verified(3)],
      { verified: true, verifiedAtSeconds: 1_001 },
    ],
    ['collateral alone', [added(4)], { verified: false, firstSeenAtSeconds: 1_004, cyclesOpened: 0, lastBlock: 4 }],
    ['events of no account', [resumed(3, 40), at(4, 'YieldAdded', { payer: account, amount: '1' })], unseen],
    ['a first draw', owing, { drawnMicro: 100n, cyclesOpened: 1, cyclesClosed: 0, repayCount: 0 }],
    [
      'a permission of automatic repayment',
      [...owing, at(4, 'AutoRepaySet', { maxPerCycle: '30', fromCollateral: true })],
      { ...fold(owing), lastBlock: 4 },
    ],
    [
      'an automatic repayment, which counts once',
      [...owing, at(4, 'AutoRepaid', { amount: '30', fromCollateral: false }), repaid(4, 30, 70)],
      { drawnMicro: 70n, repayCount: 1 },
    ],
    ['a part repaid', [...owing, repaid(4, 30, 70)], { drawnMicro: 70n, repayCount: 1, cyclesClosed: 0 }],
    [
      'a qualified cycle',
      [verified(1), ...cycle, closed(5, 0, 150, 150)],
      { drawnMicro: 0n, score: 10n, cyclesClosed: 1, open: null },
    ],
    [
      'a default',
      inDefault,
      { defaulted: true, score: 0n, drawnMicro: 40n, cyclesClosed: 1, open: null, repayCount: 0 },
    ],
    [
      'a debt repaid after the default',
      [...inDefault, repaid(6, 40, 0)],
      { drawnMicro: 0n, repayCount: 1, cyclesOpened: 1 },
    ],
    ['collateral seized after the default', [...inDefault, seized(6, 15, 25)], { drawnMicro: 25n, repayCount: 0 }],
    ['a freeze', [frozen(4)], { frozen: true, firstSeenAtSeconds: 1_004 }],
    ['a freeze that ended', [frozen(4), frozen(5, false)], { frozen: false }],
    [
      'a repayment that may be taken back, as of any other',
      partHeld,
      { drawnMicro: 70n, repayCount: 1, held: [heldPart(1_065)] },
    ],
    ['a held payment that was excess, all of it', [held(4, 7, 0)], { held: [], repayCount: 0 }],
    ['a hold that was extended', [...partHeld, extended(6, 7, 1_080)], { held: [heldPart(1_080)] }],
    [
      'the extended hold of a top-up',
      [...partHeld, extended(6, 8, 1_080)],
      { held: [heldPart(1_065)], drawnMicro: 70n },
    ],
    ['a hold that has ended', [...partHeld, added(65)], { held: [], drawnMicro: 70n }],
  ] as [string, ChainEvent[], Partial<WalletProjection>][])('of %s', (_what, given, then) => {
    expect(fold(given)).toMatchObject(then)
  })

  test.each([
    [0, 'Qualified'],
    [1, 'Short'],
    [2, 'Late'],
    [4, 'Reversed'],
  ] as const)('names outcome %d %s', (number, outcome) => {
    const standing = fold([verified(1), ...cycle, closed(6, number, 150, 150)])
    expect(standing.closed).toEqual([
      {
        number: 1,
        outcome,
        openedAtSeconds: 1_003,
        dueAtSeconds: 1_003 + term,
        closedAtSeconds: 1_006,
        peakDrawnMicro: 150n,
        totalRepaidMicro: 150n,
        scoreAfter: 10n,
        openTxHash: txOf(3),
        closeTxHash: txOf(6),
      },
    ])
  })

  test('counts collateral seized at the default as repaid in that cycle', () => {
    expect(fold(inDefault).closed).toMatchObject([{ outcome: 'Defaulted', totalRepaidMicro: 60n }])
  })

  test('is the same however the events are split into steps', () => {
    const events = [...drawnAgain, ...drawnBack]
    for (let cut = 0; cut <= events.length; cut++) {
      const before = events.slice(0, cut).reduce(evolve, unseen)
      expect(events.slice(cut).reduce(evolve, before)).toEqual(fold(events))
    }
  })
})

describe('events that contradict the standing are refused', () => {
  test.each([
    ['a draw without its cycle', [], drawn(3, 5, 5)],
    ['a draw after a missing draw', owing, drawn(4, 5, 110)],
    ['a repayment after a missing draw', owing, repaid(4, 100, 20)],
    ['a repayment after a missing repayment', owing, repaid(4, 10, 80)],
    ['a cycle that was open already', owing, opened(4, 2)],
    ['a cycle after a missing cycle', [verified(1)], opened(4, 2)],
    ['new dates of another cycle', owing, redated(4, 2, 1_001)],
    ['new dates without a cycle', [], redated(4, 1, 1_001)],
    ['a close without an open', [], closed(4, 0, 1, 1)],
    ['a close with another peak', [...owing, repaid(4, 100, 0)], closed(4, 0, 120, 100)],
    ['a close with another total', [...owing, repaid(4, 100, 0)], closed(4, 0, 100, 130)],
    ['a close of another number', [...owing, repaid(4, 100, 0)], closed(4, 0, 100, 100, 2)],
    ['a close as defaulted without the default', owing, closed(4, 3, 100, 0)],
    ['a default of more than was owed', owing, defaulted(4, 10, 80)],
    ['a verification of a verified wallet', [verified(1)], verified(2)],
    ['a withdrawal from an unverified wallet', [], verified(2, false)],
    ['an unknown outcome', [...owing, repaid(4, 100, 0)], closed(4, 5, 100, 100)],
    ['a freeze of a frozen wallet', [frozen(1)], frozen(2)],
    ['an end of a freeze that never began', [], frozen(2, false)],
    ['more held than was owed', owing, held(4, 7, 110)],
    ['a ref held twice', partHeld, held(6, 7, 10)],
    ['a revocation of a ref that was not held', owing, revoked(5, 7, 30, 130, 1_003)],
    ['a revocation after the hold', partHeld, revoked(65, 7, 30, 100, 1_003)],
    ['a revocation of more than was held', partHeld, revoked(6, 7, 40, 110, 1_003)],
    ['a revocation after a missing draw', partHeld, revoked(6, 7, 30, 110, 1_003)],
    ['a reversal of an open cycle', partHeld, reversed(6, 30, 0)],
  ])('%s', (_what, given, when) => {
    const before = given.reduce(evolve, unseen)
    expect(() => evolve(before, when)).toThrow(Incomplete)
  })
})

describe('a history', () => {
  test('of an unknown wallet is empty and complete', () => {
    expect(historyOf(unseen, [])).toEqual({
      score: '0',
      cycleCount: 0,
      repayCount: 0,
      cyclesOpened: 0,
      defaulted: false,
      verifiedAt: null,
      firstSeenAt: null,
      cycles: [],
    })
  })

  test('has null for what an open cycle has not reached yet', () => {
    const standing = fold(owing)
    expect(historyOf(standing, [standing.open!]).cycles).toEqual([
      {
        number: 1,
        outcome: null,
        openedAt: '1003',
        dueAt: String(1_003 + term),
        closedAt: null,
        peakDrawn: '100',
        totalRepaid: '0',
        scoreAfter: null,
        openTxHash: txOf(3),
        closeTxHash: null,
      },
    ])
  })
})
