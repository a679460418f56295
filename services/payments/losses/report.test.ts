import { describe, expect, test } from 'bun:test'
import {
  backOf,
  chargebackId,
  listedId,
  lookAfterLookMs,
  lookAfterMissMs,
  lookAfterNewsMs,
  type Report,
  voidId,
} from './report'

const paidMinor = 50_000n
const refund = (id: string, status: Report['status'], minor: bigint | null = 10_000n): Report => ({
  id,
  origin: 'refund',
  status,
  refundedMinor: minor,
  objectId: null,
})
const row = (
  id: string,
  status: Report['status'],
  objectId: string | null = null,
  minor: bigint | null = 10_000n,
): Report => ({ ...refund(listedId(id), status, minor), objectId })
const dispute = (status: Report['status'], minor: bigint | null = 10_000n): Report => ({
  ...refund(chargebackId('txn-9'), status, minor),
  origin: 'chargeback',
})
const isVoid = (status: Report['status']): Report => ({
  ...refund(voidId('py-1'), status, paidMinor),
  origin: 'void',
})

describe('the total of all reports about a charge:', () => {
  test.each([
    ['no report is nothing', [], 0n, false],
    ['a pending refund is open', [refund('rfd-1', 'pending')], 0n, true],
    ['a refund in an unknown status is open', [refund('rfd-1', 'unknown')], 0n, true],
    ['a failed refund is nothing', [refund('rfd-1', 'dead')], 0n, false],
    [
      'a refund and its row count once',
      [refund('rfd-1', 'succeeded'), row('txn-1', 'succeeded', 'rfd-1')],
      10_000n,
      false,
    ],
    [
      'a refund whose row still succeeds has gone, although it reads failed',
      [refund('rfd-1', 'dead'), row('txn-1', 'succeeded', 'rfd-1')],
      10_000n,
      false,
    ],
    [
      'a refund whose row is pending is open, although it reads failed',
      [refund('rfd-1', 'dead'), row('txn-1', 'pending', 'rfd-1')],
      0n,
      true,
    ],
    [
      'a row that names no refund may be the refund that no row names',
      [refund('rfd-1', 'succeeded'), row('txn-1', 'succeeded')],
      10_000n,
      false,
    ],
    [
      'a row that names no refund is another than one with a row of its own',
      [refund('rfd-1', 'succeeded'), row('txn-1', 'succeeded', 'rfd-1'), row('txn-2', 'succeeded', null, 20_000n)],
      30_000n,
      false,
    ],
    ['refunds and disputes add up', [refund('rfd-1', 'succeeded'), dispute('succeeded')], 20_000n, false],
    ['an open dispute is open', [dispute('pending')], 0n, true],
    ['an amount that is unknown is all of it', [dispute('succeeded', null)], paidMinor, false],
    [
      'an amount that is unknown is all that is left',
      [refund('rfd-1', 'succeeded'), dispute('succeeded', null)],
      paidMinor,
      false,
    ],
    ['a void is all of it', [isVoid('succeeded')], paidMinor, false],
    ['a charge that may be void is open', [isVoid('unknown')], 0n, true],
    ['a void that was taken back is nothing', [isVoid('dead')], 0n, false],
  ] as const)('%s', (_, reports, goneMinor, isOpen) => {
    expect(backOf(reports, paidMinor)).toMatchObject({ goneMinor, isOpen })
  })
})

const ordered = (status: Report['status'], minor = 10_000n): Report => ({
  ...refund('rfd-7', status, minor),
  origin: 'ordered',
})

describe('what will have gone back if everything that is open succeeds:', () => {
  test.each([
    ['no report is nothing', [], 0n, 0n],
    ['a pending refund counts', [refund('rfd-1', 'pending')], 10_000n, 0n],
    ['a refund in an unknown status counts', [refund('rfd-1', 'unknown')], 10_000n, 0n],
    ['a failed refund is nothing', [refund('rfd-1', 'dead')], 0n, 0n],
    ['an open dispute adds to a refund', [refund('rfd-1', 'succeeded'), dispute('pending')], 20_000n, 0n],
    [
      'a pending refund and its row count once',
      [refund('rfd-1', 'pending'), row('txn-1', 'pending', 'rfd-1')],
      10_000n,
      0n,
    ],
    [
      'a row that names no refund may be the pending one',
      [refund('rfd-1', 'pending'), row('txn-1', 'pending')],
      10_000n,
      0n,
    ],
    [
      'an open amount that is unknown is all that is left',
      [refund('rfd-1', 'succeeded'), dispute('pending', null)],
      paidMinor,
      0n,
    ],
    ['a charge that may be void is all of it', [isVoid('unknown')], paidMinor, 0n],
    [
      'a charge that may be void adds nothing to a full refund',
      [refund('rfd-1', 'succeeded', paidMinor), isVoid('unknown')],
      paidMinor,
      0n,
    ],
    ['a pending refund that we ordered is known as ours', [ordered('pending')], 10_000n, 10_000n],
    ['a refund that we ordered and that succeeded is open no longer', [ordered('succeeded')], 10_000n, 0n],
    ['a dispute beside it is not ours', [ordered('pending'), dispute('pending', 20_000n)], 30_000n, 10_000n],
  ] as const)('%s', (_, reports, mayGoMinor, orderedOpenMinor) => {
    expect(backOf(reports, paidMinor)).toMatchObject({ mayGoMinor, orderedOpenMinor })
  })
})

describe('what went back because we ordered it:', () => {
  test.each([
    ['a refund that we ordered', [ordered('succeeded')], 10_000n],
    ['nothing of one that is open', [ordered('pending')], 0n],
    ['it alone beside a dispute', [ordered('succeeded'), dispute('succeeded', paidMinor)], 10_000n],
    ['it alone beside a dispute of an unknown amount', [ordered('succeeded'), dispute('succeeded', null)], 10_000n],
    ['it alone beside another refund', [ordered('succeeded'), refund('rfd-1', 'succeeded')], 10_000n],
    [
      'it also if a row that names no refund may be its own',
      [ordered('succeeded'), row('txn-1', 'succeeded')],
      10_000n,
    ],
    ['its part of a charge that is void', [ordered('succeeded'), isVoid('succeeded')], 10_000n],
  ] as const)('%s', (_, reports, orderedMinor) => {
    expect(backOf(reports, paidMinor)).toMatchObject({ orderedMinor })
  })
})

describe('a refund or dispute is asked for again', () => {
  const said = (status: Report['status'], refundedMinor: bigint | null = 10_000n) => ({ status, refundedMinor })
  const [open, decided] = [3_600_000, 120_000]

  test.each([
    ['within an hour while it is open', 'pending', open],
    ['within an hour while its status is unknown', 'unknown', open],
    ['soon once it has succeeded', 'succeeded', decided],
    ['soon once it has failed', 'dead', decided],
  ] as const)('%s', (_, status, afterMs) => {
    expect(lookAfterNewsMs({ status })).toBe(afterMs)
  })

  test.each([
    ['hourly while it is open', said('pending'), undefined, open],
    ['hourly while its status is unknown', said('unknown'), said('unknown'), open],
    ['never once it reads as it was decided', said('succeeded'), said('succeeded'), null],
    ['soon if it reads as decided otherwise', said('dead'), said('succeeded'), decided],
    ['soon if it reads as decided for another amount', said('succeeded', 9_000n), said('succeeded'), decided],
    ['soon if it reads as open after its success', said('pending'), said('succeeded'), decided],
  ] as const)('after a look, %s', (_, now, before, afterMs) => {
    expect(lookAfterLookMs(now, before)).toBe(afterMs)
  })

  test.each([
    ['hourly while it is open, however long', 'pending', 90_000_000, open],
    ['soon if it was decided just now', 'succeeded', 1_000, decided],
    ['after as long as it has not changed', 'dead', 600_000, 600_000],
    ['hourly for a day', 'succeeded', 80_000_000, open],
    ['never after a day', 'succeeded', 86_400_001, null],
  ] as const)('after a look that does not find it, %s', (_, status, unchangedMs, afterMs) => {
    expect(lookAfterMissMs({ status }, unchangedMs)).toBe(afterMs)
  })
})

test('a dispute of an unknown amount may take all of the charge, also while we refund all of it', () => {
  const ordered: Report = { ...refund('rfd-1', 'pending', paidMinor), origin: 'ordered' }
  expect(backOf([ordered, dispute('pending', null)], paidMinor)).toMatchObject({
    orderedOpenMinor: paidMinor,
    mayGoOtherwiseMinor: paidMinor,
  })
})

test('a refund of an unknown amount that we order hides no dispute', () => {
  const ordered: Report = { ...refund('rfd-1', 'pending', null), origin: 'ordered' }
  expect(backOf([ordered, dispute('pending', 20_000n)], paidMinor)).toMatchObject({ mayGoOtherwiseMinor: 20_000n })
})
