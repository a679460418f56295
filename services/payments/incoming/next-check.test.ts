import { describe, expect, test } from 'bun:test'
import { nextCheck } from '../decide'
import type { PaymentState } from '../payment'

describe('the next check of a payment', () => {
  const at = (ms: number) => new Date(ms)
  test.each([
    ['opening', 0, at(600_000)],
    ['awaiting_payment', 0, at(20_000)],
    ['awaiting_payment', 50, at(20_000)],
    ['paid', 0, at(20_000)],
    ['paid', 3, at(160_000)],
    ['paid', 50, at(600_000)],
    ['revoking', 1, at(40_000)],
    ['held', 0, at(0)],
    ['held', 9, at(20_000)],
    ['repaid', 9, at(20_000)],
    ['expired', 0, at(20_000)],
    ['replaced', 0, at(20_000)],
    ['expired', 50, at(3_600_000)],
    ['credited', 0, null],
    ['review', 0, null],
  ] as const)('in the state %s after %p checks is at %p', (state, checks, when) => {
    const quiet = { state: state as PaymentState, checks, createdAt: at(0), expiresAt: at(0) }
    expect(nextCheck({ ...quiet, onHold: true }, 0, 20_000)).toEqual(when)
  })

  test('is not planned if it is an irrevocable settlement', () => {
    const quiet = { state: 'repaid', checks: 0, createdAt: at(0), expiresAt: at(0) } as const
    expect(nextCheck({ ...quiet, onHold: false }, 0, 20_000)).toBeNull()
  })

  test('is planned for a day if late money may come', () => {
    const quiet = { state: 'expired', checks: 20, createdAt: at(0), expiresAt: at(0) } as const
    expect(nextCheck(quiet, 82_800_000, 20_000)).not.toBeNull()
    expect(nextCheck(quiet, 82_800_001, 20_000)).toBeNull()
  })
})
