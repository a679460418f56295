import { describe, expect, test } from 'bun:test'
import { type AccountEvent, statementOf } from './statement'

const txHash = `0x${'ab'.repeat(32)}` as const
const ref = `0x${'cd'.repeat(32)}` as const
const event = (atSeconds: number, name: string, amount: bigint, shares = amount) =>
  ({
    ...{ name, txHash, atSeconds },
    args: { ref, amount: String(amount), shares: String(shares) },
  }) as unknown as AccountEvent

const all = { fromMs: 0, untilMs: 1_000_000 }

describe('the chain part of a statement', () => {
  test('has what collateral and debt rose and fell by, in order', () => {
    const { opening, items } = statementOf(
      [
        event(1, 'CollateralAdded', 100n),
        event(2, 'Drawn', 40n),
        event(3, 'CollateralWithdrawn', 10n),
        event(3, 'Repaid', 10n),
        event(4, 'RepaymentRevoked', 5n),
        event(5, 'CollateralSeized', 35n),
        event(6, 'TopUpRevoked', 55n),
      ],
      all,
    )
    expect(opening).toEqual({ collateral: '0', debt: '0' })
    expect(items.map((one) => [one.kind, one.in, one.out])).toEqual([
      ['collateral_added', { collateral: '100' }, {}],
      ['drawn', { debt: '40' }, {}],
      ['collateral_withdrawn', {}, { collateral: '10' }],
      ['repaid', {}, { debt: '10' }],
      ['repayment_revoked', { debt: '5' }, {}],
      ['collateral_seized', {}, { collateral: '35', debt: '35' }],
      ['topup_revoked', {}, { collateral: '55' }],
    ])
  })

  test('opens with the balances before the period, includes its first second and excludes its end', () => {
    const events = [1, 2, 3].map((at) => event(at, 'Drawn', 10n))
    const { opening, items } = statementOf(events, { fromMs: 2_000, untilMs: 3_000 })
    expect(opening).toEqual({ collateral: '0', debt: '10' })
    expect(items.map(({ at }) => at)).toEqual(['1970-01-01T00:00:02.000Z'])
  })

  test('takes collateral out at the value at which it was paid in, so that yield leaves no balance below 0', () => {
    const { items } = statementOf(
      [
        event(1, 'CollateralAdded', 100n, 100n),
        event(2, 'CollateralWithdrawn', 60n, 50n),
        event(3, 'CollateralWithdrawn', 61n, 50n),
      ],
      all,
    )
    expect(items.slice(1).map((one) => [one.ausd, one.out])).toEqual([
      ['60', { collateral: '50' }],
      ['61', { collateral: '50' }],
    ])
  })
})
