import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { difference, unbalanced } from '#shared/ledger/position'
import { type CashoutState, cashoutStates, lifecycle } from '../cashout'
import { positionOf } from './position'

const row = (state: CashoutState, spreadBps = 0) => ({
  state,
  ausdMicro: 100_000_000n,
  fiatMinor: 1_625_000n,
  feeMinor: 0n,
  spreadBps,
})

const silent: Readonly<Record<string, string>> = {
  'opening → taking': 'nothing was taken',
  'opening → expired': 'nothing was taken',
  'taking → failed': 'nothing was taken',
  'taken → paying': 'it is owed before the provider is asked, and while',
}

const edges = Object.entries<readonly CashoutState[]>(lifecycle).flatMap(([from, next]) =>
  next.map((to) => [from as CashoutState, to] as const),
)

describe('every step of a cash-out has a journal entry or a documented reason for none:', () => {
  test.each(edges)('%s → %s', (from, to) => {
    const lines = difference(positionOf(row(from)), positionOf(row(to)))
    expect(unbalanced(lines)).toEqual([])
    if (`${from} → ${to}` in silent) expect(lines).toEqual([])
    else expect(lines).not.toEqual([])
  })

  test('each documented reason is about an existing step', () => {
    const there = new Set(edges.map(([from, to]) => `${from} → ${to}`))
    expect(Object.keys(silent).filter((step) => !there.has(step))).toEqual([])
  })

  test('a cash-out returned to its wallet leaves nothing in the books', () => {
    expect(positionOf(row('returned'))).toEqual([])
  })
})

describe("the spread of a cash-out's quote", () => {
  test('is the extra amount that the payee got over the base rate', () => {
    expect(positionOf({ ...row('paid', 100), fiatMinor: 1_641_300n })).toEqual([
      { account: 'treasury', asset: 'AUSD', amount: 100_000_000n },
      { account: 'exchange', asset: 'AUSD', amount: -100_000_000n },
      { account: 'exchange', asset: 'IDR', amount: 1_625_050n },
      { account: 'spread', asset: 'IDR', amount: 16_250n },
      { account: 'provider_id', asset: 'IDR', amount: -1_641_300n },
    ])
  })

  test('is zero after a return', () => {
    for (const state of ['returning', 'returned'] as const)
      expect(positionOf(row(state, 100)).map(({ account }) => account)).not.toContain('spread')
  })
})

describe('the fee of a cash-out', () => {
  const charged = (state: CashoutState) => positionOf({ ...row(state, 100), fiatMinor: 1_635_750n, feeMinor: 5_550n })

  test('is earned from the rupiah that the AUSD is worth, next to the spread', () => {
    expect(charged('paid')).toEqual([
      { account: 'treasury', asset: 'AUSD', amount: 100_000_000n },
      { account: 'exchange', asset: 'AUSD', amount: -100_000_000n },
      { account: 'exchange', asset: 'IDR', amount: 1_625_050n },
      { account: 'spread', asset: 'IDR', amount: 16_250n },
      { account: 'fees_earned', asset: 'IDR', amount: -5_550n },
      { account: 'provider_id', asset: 'IDR', amount: -1_635_750n },
    ])
  })

  test('is not earned if the AUSD goes back', () => {
    for (const state of ['returning', 'returned'] as const)
      expect(charged(state).map(({ account }) => account)).not.toContain('fees_earned')
  })
})

test('the position of any cash-out sums to 0 in every asset', () => {
  const amount = fc.bigInt({ min: 1n, max: 10n ** 15n })
  fc.assert(
    fc.property(
      fc.constantFrom(...cashoutStates),
      fc.record({
        ausdMicro: amount,
        fiatMinor: amount,
        feeMinor: fc.bigInt({ min: 0n, max: 10n ** 15n }),
        spreadBps: fc.integer({ min: -511, max: 511 }),
      }),
      (state, row) => {
        expect(unbalanced(positionOf({ ...row, state }))).toEqual([])
      },
    ),
  )
})
