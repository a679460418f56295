import { describe, expect, test } from 'bun:test'
import type { ChainEvent, EventArgs, EventName } from './event.ts'
import { historyOf } from './history.ts'
import { evolve, fold, Impossible, type Standing, unseen } from './projection.ts'

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
const opened = (block: number, number = 1) => at(block, 'CycleOpened', { number: `${number}` })
const drawn = (block: number, amount: number, drawnAfter: number) =>
  at(block, 'Drawn', { to: account, amount: `${amount}`, drawnAfter: `${drawnAfter}` })
const repaid = (block: number, amount: number, drawnAfter: number) =>
  at(block, 'Repaid', {
    ref: txOf(0),
    payer: account,
    amount: `${amount}`,
    drawnAfter: `${drawnAfter}`,
  })
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

const cycle = [opened(3), drawn(3, 100, 100), drawn(4, 50, 150), repaid(5, 150, 0)]
const owing = [verified(1), opened(3), drawn(3, 100, 100)]
const inDefault = [...owing, defaulted(5, 60, 40), closed(5, 3, 100, 60, 1, 0)]

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
  ] as [string, ChainEvent[], Partial<Standing>][])('of %s', (_what, given, then) => {
    expect(fold(given)).toMatchObject(then)
  })

  test.each([
    [0, 'Qualified'],
    [1, 'Short'],
    [2, 'Late'],
  ] as const)('calls outcome %d %s', (number, outcome) => {
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

  test('counts what was seized at the default as repaid in that cycle', () => {
    expect(fold(inDefault).closed).toMatchObject([{ outcome: 'Defaulted', totalRepaidMicro: 60n }])
  })

  test('is the same however the events are cut into steps', () => {
    const events = [
      ...owing,
      repaid(4, 100, 0),
      closed(4, 1, 100, 100),
      opened(7, 2),
      drawn(7, 5, 5),
    ]
    for (let cut = 0; cut <= events.length; cut++) {
      const before = events.slice(0, cut).reduce(evolve, unseen)
      expect(events.slice(cut).reduce(evolve, before)).toEqual(fold(events))
    }
  })
})

describe('events that do not follow from each other prove a hole', () => {
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
    ['a verification of who was verified', [verified(1)], verified(2)],
    ['a withdrawal of who was not', [], verified(2, false)],
    ['an outcome nobody has heard of', [...owing, repaid(4, 100, 0)], closed(4, 4, 100, 100)],
  ])('%s', (_what, given, when) => {
    expect(() => evolve(fold(given), when)).toThrow(Impossible)
  })
})

describe('a history', () => {
  test('of a wallet never seen is empty and whole', () => {
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

  test('says null for what an open cycle has not come to yet', () => {
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
