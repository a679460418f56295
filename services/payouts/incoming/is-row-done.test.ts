import { describe, expect, test } from 'bun:test'
import type { Listed } from '#shared/provider/transactions'
import { isRowDone, type RowFacts } from './is-row-done'

const nothing: RowFacts = {
  own: undefined,
  isRecordedUnmatched: false,
  isRecordedOdd: false,
  wasLookedFor: false,
  suspense: new Map(),
}
const row = (status: Listed['status'], change: Partial<Listed> = {}) => ({
  type: 'payout' as const,
  status,
  transactionId: 'txn_1',
  productId: 'disb-1' as string | null,
  currency: 'IDR',
  amountMinor: 81_250n as bigint | null,
  ...change,
})
const cashout = (change: Partial<NonNullable<RowFacts['own']>> = {}): RowFacts => ({
  ...nothing,
  own: { state: 'paid', fiatMinor: 81_250n, providerPayoutId: 'disb-1', lastStatus: 'succeeded', ...change },
})
const returned = cashout({ state: 'returned', lastStatus: 'reversed' })
const held = (item: string, minor = 81_250n) => ({ suspense: new Map([[item, minor]]) })
const unmatched: RowFacts = { ...nothing, isRecordedUnmatched: true }
const second: RowFacts = { ...cashout({ providerPayoutId: 'disb-0' }), isRecordedOdd: true }
const lookedFor: RowFacts = { ...nothing, wasLookedFor: true }
const withoutId = { productId: null }

describe('the row of the payout of a cash-out', () => {
  test.each([
    ['that was paid is done', row('succeeded'), cashout(), true],
    [
      'that was paid is done, although it contradicted its cash-out before',
      row('succeeded'),
      { ...cashout(), isRecordedOdd: true },
      true,
    ],
    ['that is pending is done: it changes nothing', row('pending'), cashout({ state: 'paying' }), true],
    ['in a status that we do not know is done', row('unknown'), cashout(), true],
    ['that succeeded is not done before the cash-out is paid', row('succeeded'), cashout({ state: 'paying' }), false],
    ['that was reversed is not done before the cash-out knows', row('reversed'), cashout(), false],
    ['that failed is not done before the cash-out knows', row('failed'), cashout({ state: 'paying' }), false],
    ['that was reversed and returned is done', row('reversed'), returned, true],
    ['that succeeded after the AUSD was returned is not done', row('succeeded'), returned, false],
    [
      'that succeeded after the AUSD was returned is done once its money is in suspense',
      row('succeeded'),
      { ...returned, ...held('disb-1') },
      true,
    ],
    ['of more than the cash-out is not done', row('succeeded', { amountMinor: 90_000n }), cashout(), false],
    [
      'of more than the cash-out is done once the rest is in suspense',
      row('succeeded', { amountMinor: 90_000n }),
      { ...cashout(), ...held('disb-1', 8_750n) },
      true,
    ],
    ['without an exact amount is done', row('succeeded', { amountMinor: null }), returned, true],
    ['in another currency is done', row('succeeded', { currency: 'MYR' }), returned, true],
    [
      'whose money is also in suspense under the id of the row is not done',
      row('succeeded'),
      { ...cashout(), ...held('txn_1') },
      false,
    ],
    ['that the cash-out does not know is not done', row('succeeded'), cashout({ providerPayoutId: null }), false],
    ['without an id is not done', row('succeeded', withoutId), cashout(), false],
    [
      'without an id is done once it was looked for',
      row('succeeded', withoutId),
      { ...cashout(), wasLookedFor: true },
      true,
    ],
    ['of a type that we do not know is received', row('reversed', { type: 'unknown' }), cashout(), false],
  ] as const)('%s', (_, one, facts, isDone) => {
    expect(isRowDone(one, facts)).toBe(isDone)
  })
})

describe('the row of a second payout of a cash-out', () => {
  test.each([
    ['is not done before that is recorded', row('succeeded'), cashout({ providerPayoutId: 'disb-0' }), false],
    ['is not done before its money is in suspense', row('succeeded'), second, false],
    ['is done once its money is in suspense', row('succeeded'), { ...second, ...held('disb-1') }, true],
    ['is done after it failed, although the first was paid', row('failed'), second, true],
    [
      'is not done after it was reversed, while its money is in suspense',
      row('reversed'),
      { ...second, ...held('disb-1') },
      false,
    ],
  ] as const)('%s', (_, one, facts, isDone) => {
    expect(isRowDone(one, facts)).toBe(isDone)
  })
})

describe('the row of a payout without a cash-out', () => {
  test.each([
    ['is not done before that is recorded', row('succeeded'), nothing, false],
    ['is not done before its money is in suspense', row('succeeded'), unmatched, false],
    ['is done once its money is in suspense', row('succeeded'), { ...unmatched, ...held('disb-1') }, true],
    ['is done while it is pending', row('pending'), unmatched, true],
    [
      'is not done after it failed, while its money is in suspense',
      row('failed'),
      { ...unmatched, ...held('disb-1') },
      false,
    ],
    [
      'is not done after a restore brought its cash-out back',
      row('succeeded'),
      { ...cashout({ providerPayoutId: null }), isRecordedUnmatched: true },
      false,
    ],
    [
      'is not done after a restore brought its cash-out back, while its money is in suspense',
      row('succeeded'),
      { ...cashout({ providerPayoutId: null }), isRecordedUnmatched: true, ...held('disb-1') },
      false,
    ],
    ['without an id is not done before it was looked for', row('succeeded', withoutId), nothing, false],
    [
      'without an id is done once it was looked for and booked',
      row('succeeded', withoutId),
      { ...lookedFor, ...held('txn_1') },
      true,
    ],
    [
      'whose money is in suspense under two ids is not done',
      row('succeeded'),
      {
        ...unmatched,
        suspense: new Map([
          ['disb-1', 81_250n],
          ['txn_1', 81_250n],
        ]),
      },
      false,
    ],
  ] as const)('%s', (_, one, facts, isDone) => {
    expect(isRowDone(one, facts)).toBe(isDone)
  })
})

test.each(['payment', 'refund', 'chargeback'] as const)('the row of type %s is done: it is no payout', (type) => {
  expect(isRowDone(row('succeeded', { type }), cashout())).toBe(true)
})

test('a row of unrecognised type that names no cash-out is done', () => {
  expect(isRowDone(row('succeeded', { type: 'unknown' }), nothing)).toBe(true)
})
