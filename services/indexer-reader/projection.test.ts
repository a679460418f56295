import { describe, expect, test } from 'bun:test'
import type { ChainEvent, EventArgs, EventName } from './event'
import { evolve, fold, Impossible, type Standing, unseen, whole } from './projection'
import { historyOf } from './record'

const account = `0x${'a'.repeat(40)}` as const
const txOf = (block: number) => `0x${String(block).padStart(64, '0')}` as const

/** An event of block `block`, whose time is 1000 seconds later. */
const at = <N extends EventName>(
  block: number,
  name: N,
  args: Omit<EventArgs[N], 'account'>,
): ChainEvent =>
  ({
    name,
    args: { account, ...args },
    wallet: account,
    blockNumber: block,
    logIndex: 0,
    txHash: txOf(block),
    atSeconds: 1_000 + block,
  }) as unknown as ChainEvent

const verified = (block: number, now = true) => at(block, 'VerifiedSet', { verified: now })
const added = (block: number) =>
  at(block, 'CollateralAdded', { ref: txOf(9), amount: '5', shares: '5', heldUntil: '0' })
const opened = (block: number, number = 1, openedAt = 1_000 + block) =>
  at(block, 'CycleOpened', { number: `${number}`, openedAt: `${openedAt}` })
const drawn = (block: number, amount: number, drawnAfter: number) =>
  at(block, 'Drawn', { to: account, amount: `${amount}`, drawnAfter: `${drawnAfter}` })
const repaid = (block: number, amount: number, drawnAfter: number) =>
  at(block, 'Repaid', {
    ref: txOf(0),
    payer: account,
    amount: `${amount}`,
    drawnAfter: `${drawnAfter}`,
  })
/** Held for a minute, under a ref made of `ref`. */
const held = (block: number, ref: number, amount: number) =>
  at(block, 'RepaymentHeld', {
    ref: txOf(ref),
    amount: `${amount}`,
    heldUntil: `${1_060 + block}`,
  })
const extended = (block: number, ref: number, until: number) =>
  at(block, 'HoldExtended', { ref: txOf(ref), heldUntil: `${until}` })
const revoked = (
  block: number,
  ref: number,
  amount: number,
  drawnAfter: number,
  openedAt: number,
) =>
  at(block, 'RepaymentRevoked', {
    ref: txOf(ref),
    amount: `${amount}`,
    drawnAfter: `${drawnAfter}`,
    openedAt: `${openedAt}`,
  })
const reversed = (block: number, amount: number, score: number, number = 1) =>
  at(block, 'CycleReversed', {
    number: `${number}`,
    amount: `${amount}`,
    scoreAfter: `${score}`,
  })
const frozen = (block: number, now = true) => at(block, 'FrozenSet', { frozen: now })
const closed = (
  block: number,
  outcome: number,
  peak: number,
  total: number,
  number = 1,
  score = 10,
) =>
  at(block, 'CycleClosed', {
    number: `${number}`,
    outcome: `${outcome}`,
    peakDrawn: `${peak}`,
    totalRepaid: `${total}`,
    scoreAfter: `${score}`,
    ratioBpsAfter: '5250',
  })
const defaulted = (block: number, seized: number, stillOwed: number) =>
  at(block, 'DefaultMarked', { number: '1', seized: `${seized}`, stillOwed: `${stillOwed}` })
const seized = (block: number, amount: number, drawnAfter: number) =>
  at(block, 'CollateralSeized', { amount: `${amount}`, shares: '1', drawnAfter: `${drawnAfter}` })

const heldPart = (untilSeconds: number) => ({
  ref: txOf(7),
  cycle: 1,
  amountMicro: 30n,
  untilSeconds,
})
const cycle = [opened(3), drawn(3, 100, 100), drawn(4, 50, 150), repaid(5, 150, 0)]
const owing = [verified(1), opened(3), drawn(3, 100, 100)]
const inDefault = [...owing, defaulted(5, 60, 40), closed(5, 3, 100, 60, 1, 0)]
/** 30 of the 100 are repaid under ref 7, by money that may be taken back. */
const partHeld = [...owing, held(5, 7, 30), repaid(5, 30, 70)]
/** The rest is repaid by the wallet itself: the cycle closes, with 30 of it still held. */
const closedHeld = [...partHeld, repaid(6, 70, 0), closed(6, 0, 100, 100)]
const reopened = [reversed(8, 30, 0), opened(8, 2, 1_003), revoked(8, 7, 30, 30, 1_003)]
const shortHeld = [...partHeld, repaid(6, 70, 0), closed(6, 1, 100, 100, 1, 10)]
const drawnBack = revoked(8, 7, 30, 35, 1_003)
const drawnAgain = [...closedHeld, opened(7, 2), drawn(7, 5, 5)]

describe('a record', () => {
  test.each([
    ['nothing', [], unseen],
    [
      'a verification',
      [verified(1)],
      { verified: true, verifiedAtSeconds: 1_001, firstSeenAtSeconds: 1_001 },
    ],
    [
      'a verification withdrawn',
      [verified(1), verified(2, false)],
      { verified: false, verifiedAtSeconds: 1_001 },
    ],
    [
      'a verification given again',
      [verified(1), verified(2, false), verified(3)],
      { verified: true, verifiedAtSeconds: 1_001 },
    ],
    [
      'collateral alone',
      [added(4)],
      { verified: false, firstSeenAtSeconds: 1_004, cyclesOpened: 0, lastBlock: 4 },
    ],
    ['a first draw', owing, { drawnMicro: 100n, cyclesOpened: 1, cyclesClosed: 0, repayCount: 0 }],
    [
      'a part repaid',
      [...owing, repaid(4, 30, 70)],
      { drawnMicro: 70n, repayCount: 1, cyclesClosed: 0 },
    ],
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
    [
      'collateral seized after the default',
      [...inDefault, seized(6, 15, 25)],
      { drawnMicro: 25n, repayCount: 0 },
    ],
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
  ] as [string, ChainEvent[], Partial<Standing>][])('of %s', (_what, given, then) => {
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
    const events = [...drawnAgain, reversed(8, 30, 0), revoked(8, 7, 30, 35, 1_003)]
    for (let cut = 0; cut <= events.length; cut++) {
      const before = events.slice(0, cut).reduce(evolve, unseen)
      expect(events.slice(cut).reduce(evolve, before)).toEqual(fold(events))
    }
  })
})

describe('a revoked repayment', () => {
  test('during its cycle no longer counts in it, and the debt may reach a new peak', () => {
    const events = [...partHeld, drawn(6, 20, 90), revoked(8, 7, 30, 120, 1_003)]
    expect(fold(events)).toMatchObject({
      drawnMicro: 120n,
      repayCount: 0,
      held: [],
      open: { peakDrawnMicro: 120n, totalRepaidMicro: 0n, openedAtSeconds: 1_003 },
    })
    const end = fold([...events, repaid(9, 120, 0), closed(9, 4, 120, 120, 1, 0)])
    expect(end.closed).toMatchObject([{ outcome: 'Reversed', totalRepaidMicro: 120n }])
  })

  test('after its cycle closed, reverses that cycle and opens another of the same age', () => {
    expect(fold([...closedHeld, ...reopened])).toMatchObject({
      drawnMicro: 30n,
      score: 0n,
      repayCount: 1,
      cyclesOpened: 2,
      cyclesClosed: 1,
      closed: [
        {
          number: 1,
          outcome: 'Reversed',
          totalRepaidMicro: 70n,
          scoreAfter: 0n,
          closedAtSeconds: 1_006,
          closeTxHash: txOf(6),
        },
      ],
      open: {
        number: 2,
        openedAtSeconds: 1_003,
        peakDrawnMicro: 30n,
        totalRepaidMicro: 0n,
        openTxHash: txOf(8),
      },
    })
  })

  test('during a later cycle makes that cycle as old as the debt', () => {
    const events = [...drawnAgain, reversed(8, 30, 0), revoked(8, 7, 30, 35, 1_003)]
    expect(fold(events)).toMatchObject({
      cyclesOpened: 2,
      closed: [{ number: 1, outcome: 'Reversed' }],
      open: { number: 2, openedAtSeconds: 1_003, peakDrawnMicro: 35n, openTxHash: txOf(7) },
    })
  })

  test('does not change the age of a later cycle that is older', () => {
    const [first, second] = [opened(3, 1, 1_003), opened(9, 2, 1_003)]
    const events = [
      ...[verified(1), first, drawn(3, 100, 100), held(4, 7, 40), repaid(4, 40, 60)],
      ...[held(5, 8, 60), repaid(5, 60, 0), closed(5, 0, 100, 100)],
      ...[reversed(9, 40, 0), second, revoked(9, 7, 40, 40, 1_003)],
      ...[reversed(10, 60, 0), revoked(10, 8, 60, 100, 1_003)],
    ]
    expect(fold(events)).toMatchObject({
      score: 0n,
      closed: [{ outcome: 'Reversed', totalRepaidMicro: 0n }],
      open: { openedAtSeconds: 1_003, peakDrawnMicro: 100n },
    })
  })

  test.each([
    ['that closed late', 2, 0],
    ['that was too short', 1, 0],
  ])('reverses a cycle %s, which had earned nothing', (_what, outcome, score) => {
    const events = [...partHeld, repaid(6, 70, 0), closed(6, outcome, 100, 100, 1, score)]
    const end = fold([...events, ...reopened])
    expect(end).toMatchObject({ score: 0n, closed: [{ outcome: 'Reversed' }] })
  })

  test('after the default of its cycle was not repaid, and the default stays', () => {
    const events = [...partHeld, defaulted(6, 60, 10), closed(6, 3, 100, 90, 1, 0)]
    expect(fold([...events, revoked(8, 7, 30, 40, 0)])).toMatchObject({
      drawnMicro: 40n,
      repayCount: 0,
      open: null,
      closed: [{ outcome: 'Defaulted', totalRepaidMicro: 60n }],
    })
  })

  test('made after a default counts in no cycle', () => {
    const events = [...inDefault, held(6, 7, 30), repaid(6, 30, 10), revoked(8, 7, 30, 40, 0)]
    expect(fold(events)).toMatchObject({
      drawnMicro: 40n,
      repayCount: 0,
      closed: [{ outcome: 'Defaulted', totalRepaidMicro: 60n }],
    })
  })
})

describe('events that do not follow from each other prove a gap', () => {
  test.each([
    ['a draw without its cycle', [], drawn(3, 5, 5)],
    ['a draw after a missing draw', owing, drawn(4, 5, 110)],
    ['a repayment after a missing draw', owing, repaid(4, 100, 20)],
    ['a repayment after a missing repayment', owing, repaid(4, 10, 80)],
    ['a cycle that was open already', owing, opened(4, 2)],
    ['a cycle after a missing cycle', [verified(1)], opened(4, 2)],
    ['a close without an open', [], closed(4, 0, 1, 1)],
    ['a close with another peak', [...owing, repaid(4, 100, 0)], closed(4, 0, 120, 100)],
    ['a close with another total', [...owing, repaid(4, 100, 0)], closed(4, 0, 100, 130)],
    ['a close of another number', [...owing, repaid(4, 100, 0)], closed(4, 0, 100, 100, 2)],
    ['a close as defaulted without the default', owing, closed(4, 3, 100, 0)],
    ['a default of more than was owed', owing, defaulted(4, 10, 80)],
    ['a verification of a verified wallet', [verified(1)], verified(2)],
    ['a withdrawal of an unverified wallet', [], verified(2, false)],
    ['an unknown outcome', [...owing, repaid(4, 100, 0)], closed(4, 5, 100, 100)],
    ['a cycle older than its opening', [verified(1)], opened(4, 1, 1_003)],
    ['a freeze of a frozen wallet', [frozen(1)], frozen(2)],
    ['an end of a freeze that never began', [], frozen(2, false)],
    ['more held than was owed', owing, held(4, 7, 110)],
    ['a ref held twice', partHeld, held(6, 7, 10)],
    ['a hold put off to the past', partHeld, extended(6, 7, 1_006)],
    ['a revocation of a payment that was never held', owing, revoked(5, 7, 30, 130, 1_003)],
    ['a revocation after the hold', partHeld, revoked(65, 7, 30, 100, 1_003)],
    ['a revocation of another amount', partHeld, revoked(6, 7, 20, 90, 1_003)],
    ['a revocation after a missing draw', partHeld, revoked(6, 7, 30, 110, 1_003)],
    ['a revocation into a cycle of another age', partHeld, revoked(6, 7, 30, 100, 1_004)],
    ['a revocation without its reversal', drawnAgain, revoked(8, 7, 30, 35, 1_003)],
    ['a revocation without its new cycle', [...closedHeld, reopened[0]!], reopened[2]!],
    ['a new cycle without its reversal', closedHeld, reopened[1]!],
    ['a new cycle younger than the debt', [...closedHeld, reopened[0]!], opened(8, 2, 1_004)],
    ['a reversal of another amount', [...drawnAgain, reversed(8, 20, 0)], drawnBack],
    ['a reversal and no debt', [...drawnAgain, reversed(8, 30, 0)], drawn(8, 5, 10)],
    ['a reversal and a debt of later', [...drawnAgain, reversed(7, 30, 0)], drawnBack],
    ['a reversal of an open cycle', partHeld, reversed(6, 30, 0)],
    ['a reversal of a default', inDefault, reversed(6, 30, 0)],
    ['a reversal that gives a score', closedHeld, reversed(8, 30, 20)],
    ['a reversal of an amount that was not given', shortHeld, reversed(8, 30, 5)],
  ])('%s', (_what, given, when) => {
    const before = given.reduce(evolve, unseen)
    expect(() => evolve(before, when)).toThrow(Impossible)
  })

  test('a reversal without a successor', () => {
    const ends = [...drawnAgain, reversed(8, 30, 0)].reduce(evolve, unseen)
    expect(() => whole(ends)).toThrow(/without restoring its debt/)
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
