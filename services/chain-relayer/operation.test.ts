import { describe, expect, test } from 'bun:test'
import { canBecome, statesBefore } from '#shared/lifecycle'
import {
  canTravelTogether,
  guards,
  type Kind,
  lifecycle,
  mayHappenLate,
  operationStates,
} from './operation'
import { packed } from './parcel'

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

  test('travels with others only when `many` takes it', () => {
    const social = Object.keys(guards).filter((kind) => canTravelTogether(kind as never))
    expect(social).toEqual(['credit', 'repay', 'revoke', 'extend'])
  })

  test('that nobody refuses a second time is none but a drip', () => {
    const unguarded = Object.entries(guards).filter(([, guard]) => guard === 'none')
    expect(unguarded.map(([kind]) => kind)).toEqual(['drip'])
  })
})

describe('packing', () => {
  const one = (kind: Kind, tries = 0) => ({ kind, tries })
  test.each([
    ['one credit travels alone', [one('credit')], 16, [], 1],
    ['two credits travel together', [one('credit'), one('credit')], 16, [2], 0],
    ['five with room for two leave one alone', Array(5).fill(one('credit')), 2, [2, 2], 1],
    ['what failed once travels alone', [one('credit'), one('repay', 1), one('repay')], 16, [2], 1],
    ['drips never travel together', [one('drip'), one('drip')], 16, [], 2],
    ['nor do frozen wallets', [one('freeze'), one('freeze')], 16, [], 2],
    ['an extension joins a revocation', [one('extend'), one('revoke')], 16, [2], 0],
    ['batches of one are no batches', [one('credit'), one('credit')], 1, [], 2],
  ] as const)('%s', (_case, operations, batchMax, sizes, alone) => {
    const parcels = packed([...operations], batchMax)
    expect(parcels.together.map((group) => group.length)).toEqual([...sizes])
    expect(parcels.alone).toHaveLength(alone)
  })
})
