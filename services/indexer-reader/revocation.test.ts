import { describe, expect, test } from 'bun:test'
import type { ChainEvent } from './event'
import { fold } from './projection'
import {
  closed,
  closedHeld,
  defaulted,
  drawn,
  drawnAgain,
  drawnBack,
  held,
  inDefault,
  opened,
  owing,
  partHeld,
  reopened,
  repaid,
  resumed,
  reversed,
  revoked,
  term,
  txOf,
  verified,
} from './test-support-events'

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
    expect(fold([...drawnAgain, ...drawnBack])).toMatchObject({
      cyclesOpened: 2,
      closed: [{ number: 1, outcome: 'Reversed' }],
      open: {
        number: 2,
        openedAtSeconds: 1_003,
        dueAtSeconds: 1_003 + term,
        peakDrawnMicro: 35n,
        openTxHash: txOf(7),
      },
    })
  })

  test('does not change the age of a later cycle that is older', () => {
    const [first, second] = [opened(3, 1, 1_003), opened(9, 2, 1_003)]
    const events = [
      verified(1),
      first,
      drawn(3, 100, 100),
      held(4, 7, 40),
      repaid(4, 40, 60),
      held(5, 8, 60),
      repaid(5, 60, 0),
      closed(5, 0, 100, 100),
      reversed(9, 40, 0),
      second,
      revoked(9, 7, 40, 40, 1_003),
      reversed(10, 60, 0),
      revoked(10, 8, 60, 100, 1_003),
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

describe('a repayment of which a part is taken back', () => {
  test('still counts as one, for the part that is left', () => {
    const events = [...partHeld, revoked(8, 7, 10, 80, 1_003)]
    expect(fold(events)).toMatchObject({
      drawnMicro: 80n,
      repayCount: 1,
      held: [{ ref: txOf(7), amountMicro: 20n }],
      open: { totalRepaidMicro: 20n },
    })
    expect(fold([...events, revoked(9, 7, 20, 100, 1_003)])).toMatchObject({
      drawnMicro: 100n,
      repayCount: 0,
      held: [],
      open: { totalRepaidMicro: 0n },
    })
  })

  test('reverses the cycle that it closed, each time by its part', () => {
    const first = [reversed(8, 10, 0), opened(8, 2, 1_003), revoked(8, 7, 10, 10, 1_003)]
    const second = [reversed(9, 20, 0), revoked(9, 7, 20, 30, 1_003)]
    const part = fold([...closedHeld, ...first])
    expect(part).toMatchObject({ repayCount: 2, closed: [{ totalRepaidMicro: 90n }] })
    expect(fold([...closedHeld, ...first, ...second])).toMatchObject({
      drawnMicro: 30n,
      repayCount: 1,
      closed: [{ outcome: 'Reversed', totalRepaidMicro: 70n }],
      open: { number: 2, peakDrawnMicro: 30n, totalRepaidMicro: 0n },
    })
  })
})

describe('the due date of an open cycle', () => {
  const dueOf = (events: ChainEvent[]) => fold(events).open?.dueAtSeconds

  test('moves by each pause', () => {
    expect(dueOf([...owing, resumed(60, 40)])).toBe(1_003 + term + 40)
    expect(dueOf([...owing, resumed(60, 40), resumed(90, 5)])).toBe(1_003 + term + 45)
  })

  test('moves by the whole pause in which it was reported', () => {
    const paused = [...closedHeld, reversed(20, 30, 0), opened(20, 2, 1_003)]
    expect(dueOf([...paused, resumed(50, 40)])).toBe(1_003 + term + 40)
  })

  test('stays as it was once the cycle is closed', () => {
    const events = [...owing, repaid(4, 100, 0), closed(4, 1, 100, 100)]
    expect(fold([...events, resumed(60, 40)]).closed).toMatchObject([{ dueAtSeconds: 1_003 + term }])
  })
})
