import { describe, expect, test } from 'bun:test'
import type { Listed } from '#shared/provider/transactions'
import { isRowDone, type RowFacts } from './is-row-done'

const nothing: RowFacts = {
  isOwned: false,
  isCounted: false,
  isRecordedUnmatched: false,
  doubt: undefined,
  chargeDoubt: undefined,
  isRefundKnown: false,
  report: undefined,
  objectStatus: undefined,
  isOwnCurrency: true,
}
const unmatched: RowFacts = { ...nothing, isRecordedUnmatched: true }
const owned: RowFacts = { ...nothing, isOwned: true }
const counted: RowFacts = { ...owned, isCounted: true }
const row = (type: Listed['type'], status: Listed['status']) => ({
  type,
  status,
  amountMinor: 10_000n as bigint | null,
})

describe('the row of a charge', () => {
  test.each([
    ['that is pending is done: it changes nothing', row('payment', 'pending'), owned, true],
    ['of a payment of ours that is not counted is not done', row('payment', 'succeeded'), owned, false],
    ['that is counted is done', row('payment', 'succeeded'), counted, true],
    [
      'that is counted, while the row still raises a doubt, is not done',
      row('payment', 'succeeded'),
      { ...counted, doubt: 'unknown' },
      false,
    ],
    [
      'that is counted, while the charge itself is doubtful, is not done',
      row('payment', 'succeeded'),
      { ...counted, chargeDoubt: 'unknown' },
      false,
    ],
    [
      'that is counted after its doubts have ended is done',
      row('payment', 'succeeded'),
      { ...counted, doubt: 'dead', chargeDoubt: 'dead' },
      true,
    ],
    ['that matches no payment is not done before that is recorded', row('payment', 'succeeded'), nothing, false],
    ['that matches no payment is done once that is recorded', row('payment', 'succeeded'), unmatched, true],
    [
      'that matched none before its payment was restored is not done',
      row('payment', 'succeeded'),
      { ...unmatched, isOwned: true },
      false,
    ],
    ['that failed without being counted is done', row('payment', 'failed'), owned, true],
    ['that is counted and failed is not done before its doubt is recorded', row('payment', 'failed'), counted, false],
    [
      'that is counted and failed is done with its doubt',
      row('payment', 'failed'),
      { ...counted, doubt: 'unknown' },
      true,
    ],
    [
      'that is counted and voided is not done with a doubt alone',
      row('payment', 'voided'),
      { ...counted, doubt: 'unknown' },
      false,
    ],
    [
      'that is counted and voided is done once its money counts as gone',
      row('payment', 'voided'),
      { ...counted, doubt: 'succeeded' },
      true,
    ],
    [
      'that is counted and reversed is not done after the doubt was ended',
      row('payment', 'reversed'),
      { ...counted, doubt: 'dead' },
      false,
    ],
    [
      'in a status that we do not know is done with its doubt',
      row('payment', 'unknown'),
      { ...counted, doubt: 'unknown' },
      true,
    ],
  ] as const)('%s', (_, one, facts, isDone) => {
    expect(isRowDone(one, facts)).toBe(isDone)
  })
})

const report = (
  status: 'pending' | 'succeeded' | 'dead',
  refundedMinor: bigint | null = 10_000n,
  paymentId = 'pay_1',
) => ({
  status,
  refundedMinor,
  paymentId,
})

describe('the row of a refund', () => {
  const reported = (status: 'pending' | 'succeeded' | 'dead'): RowFacts => ({
    ...counted,
    report: report(status),
    objectStatus: status,
  })
  test.each([
    ['that is not reported is not done', row('refund', 'succeeded'), counted, false],
    ['that is pending and not reported is not done', row('refund', 'pending'), counted, false],
    ['that is reported is done', row('refund', 'succeeded'), reported('succeeded'), true],
    ['that is reported as pending is done while it is pending', row('refund', 'pending'), reported('pending'), true],
    ['that has succeeded since is not done', row('refund', 'succeeded'), reported('pending'), false],
    ['that still reads pending after it succeeded is done', row('refund', 'pending'), reported('succeeded'), true],
    ['that has failed since is not done', row('refund', 'failed'), reported('succeeded'), false],
    [
      'whose refund reads otherwise is not done',
      row('refund', 'succeeded'),
      { ...reported('succeeded'), objectStatus: 'pending' },
      false,
    ],
    [
      'whose refund is unknown is not done',
      row('refund', 'succeeded'),
      { ...reported('succeeded'), objectStatus: undefined },
      false,
    ],
    [
      'that raised a doubt is not done',
      row('refund', 'succeeded'),
      { ...reported('succeeded'), doubt: 'unknown' },
      false,
    ],
    ['that failed and concerns nobody is done', row('refund', 'failed'), nothing, true],
    ['that failed and is of our payment is not done before it is reported', row('refund', 'failed'), owned, false],
    [
      'that failed after a webhook reported it is not done',
      row('refund', 'failed'),
      { ...nothing, isRefundKnown: true },
      false,
    ],
    ['that matches no payment is done once that is recorded', row('refund', 'succeeded'), unmatched, true],
    [
      'that was reported without its payment is not done once there is one',
      row('refund', 'succeeded'),
      { ...owned, report: report('succeeded', 10_000n, ''), objectStatus: 'succeeded' },
      false,
    ],
  ] as const)('%s', (_, one, facts, isDone) => {
    expect(isRowDone(one, facts)).toBe(isDone)
  })
})

describe('the row of a dispute', () => {
  test.each([
    ['that is not reported is not done', row('chargeback', 'pending'), counted, false],
    [
      'that is open and reported is done',
      row('chargeback', 'pending'),
      { ...counted, report: report('pending') },
      true,
    ],
    [
      'that was lost since is not done',
      row('chargeback', 'succeeded'),
      { ...counted, report: report('pending') },
      false,
    ],
    [
      'that was lost and reported is done',
      row('chargeback', 'succeeded'),
      { ...counted, report: report('succeeded') },
      true,
    ],
    [
      'that was won since is not done',
      row('chargeback', 'reversed'),
      { ...counted, report: report('succeeded') },
      false,
    ],
    ['that was won and reported is done', row('chargeback', 'reversed'), { ...counted, report: report('dead') }, true],
    // guard: a row is received again while its dispute reads otherwise
    [
      'that was won, while the dispute that it names reads as lost, is not done',
      row('chargeback', 'reversed'),
      { ...counted, report: report('dead'), objectStatus: 'succeeded' },
      false,
    ],
    [
      'that was won, as the dispute that it names, is done',
      row('chargeback', 'reversed'),
      { ...counted, report: report('dead'), objectStatus: 'dead' },
      true,
    ],
    [
      'whose dispute contradicts itself is done: an operator decides',
      row('chargeback', 'succeeded'),
      { ...counted, report: report('succeeded'), objectStatus: 'unknown' },
      true,
    ],
    [
      'that has grown is not done',
      row('chargeback', 'pending'),
      { ...counted, report: report('pending', 5_000n) },
      false,
    ],
    [
      'in another currency is done if all of it counts',
      row('chargeback', 'pending'),
      { ...counted, isOwnCurrency: false, report: report('pending', null) },
      true,
    ],
    [
      'in another currency is not done if its number counts',
      row('chargeback', 'pending'),
      { ...counted, isOwnCurrency: false, report: report('pending') },
      false,
    ],
    ['that was won and concerns nobody is done', row('chargeback', 'reversed'), nothing, true],
    // guard: a row that takes a refund or dispute back is received, also if the row was not seen before
    [
      'that was won and is of our payment is not done before it is reported',
      row('chargeback', 'reversed'),
      owned,
      false,
    ],
    [
      'that was won after a webhook reported it is not done',
      row('chargeback', 'reversed'),
      { ...nothing, isRefundKnown: true },
      false,
    ],
    ['that matches no payment is not done before that is recorded', row('chargeback', 'pending'), nothing, false],
  ] as const)('%s', (_, one, facts, isDone) => {
    expect(isRowDone(one, facts)).toBe(isDone)
  })
})

test.each(['payout', 'unknown'] as const)('the row of type %s is done: it is not about payments', (type) => {
  expect(isRowDone(row(type, 'succeeded'), nothing)).toBe(true)
})
