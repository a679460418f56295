import { describe, expect, test } from 'bun:test'
import { canBecome, statesBefore } from '#shared/lifecycle'
import { guards, isBatchable, lifecycle, mayHappenLate, operationStates } from './operation'

describe('an operation', () => {
  const steps = operationStates.flatMap((from) => operationStates.map((to) => [from, to] as const))
  const allowed = new Set([
    'waiting>assigned',
    'waiting>settled',
    'waiting>failed',
    'assigned>waiting',
    'assigned>settled',
    'assigned>failed',
    'failed>settled',
  ])
  test.each(steps)('%s may become %s only as the table says', (from, to) => {
    expect(canBecome(lifecycle, from, to)).toBe(allowed.has(`${from}>${to}`))
  })

  test('that ended is never assigned again', () => {
    expect(statesBefore(lifecycle, 'assigned')).toEqual(['waiting'])
  })

  test.each([
    ['take', 'balance_too_low', true],
    ['take', 'signature_invalid', true],
    ['take', 'reverted', true],
    ['take', 'a reason of tomorrow', true],
    ['take', 'authorization_expired', false],
    ['take', 'authorization_cancelled', false],
    ['take', 'authorization_used_elsewhere', false],
    ['send', 'balance_too_low', false],
    ['return', 'reverted', false],
  ] as const)('that is a %s and failed with %s may happen late: %p', (kind, reason, late) => {
    expect(mayHappenLate({ kind, authorizationNonce: '0x01' }, reason)).toBe(late)
  })

  test('security: that shares its authorization with another payout never counts late', () => {
    const failed = { kind: 'take', authorizationNonce: null } as const
    expect(mayHappenLate(failed, 'authorization_conflict')).toBe(false)
  })

  test('shares a transaction only when `many` takes it', () => {
    const batched = Object.keys(guards).filter((kind) => isBatchable(kind as never))
    expect(batched).toEqual(['credit', 'repay', 'revoke', 'extend'])
  })

  test('that nobody refuses a second time is none but a drip', () => {
    const unguarded = Object.entries(guards).filter(([, guard]) => guard === 'none')
    expect(unguarded.map(([kind]) => kind)).toEqual(['drip'])
  })
})
