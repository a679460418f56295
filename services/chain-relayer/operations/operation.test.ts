import { describe, expect, test } from 'bun:test'
import { canBecome, statesBefore } from '#platform/lifecycle'
import type { SignedTransfer } from '#shared/chain/erc3009'
import { canonical } from '#shared/chain/given-authorization'
import { asRead } from '../test-support'
import {
  guards,
  isBatchable,
  isHopeless,
  lifecycle,
  mayHappenLate,
  operationStates,
  orderOf,
  sendIdOf,
  type Task,
} from './operation'

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
  test.each(steps)('goes from %s to %s only as its lifecycle allows', (from, to) => {
    expect(canBecome(lifecycle, from, to)).toBe(allowed.has(`${from}>${to}`))
  })

  test.each([
    ['credit', 5, 'reverted', false, false],
    ['credit', 6, 'reverted', false, true],
    ['send', 1, 'reverted', true, true],
    ['send', 9, 'noop', true, false],
    ['autorepay', 1, 'reverted', false, false],
    ['autorepay', 2, 'reverted', false, true],
    ['autorepay', 5, 'noop', false, false],
    ['autorepay', 6, 'noop', false, true],
  ] as const)('%s whose try %i ended as %s, with one try %p, fails: %p', (kind, tries, outcome, oneTry, fails) => {
    expect(isHopeless(kind, tries, { hasReverted: outcome === 'reverted', oneTry })).toBe(fails)
  })

  test('that has ended is never assigned again', () => {
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
    ['send', 'reverted', true],
    ['send', 'balance_too_low', false],
    ['return', 'reverted', false],
  ] as const)('of the kind %s that failed with %s may still happen: %p', (kind, reason, late) => {
    expect(mayHappenLate({ kind, authorizationNonce: '0x01', tries: 0 }, reason)).toBe(late)
  })

  test('of a send may still happen once its signature was in a transaction', () => {
    const failed = { kind: 'send', authorizationNonce: '0x01', tries: 1 } as const
    expect(mayHappenLate(failed, 'balance_too_low')).toBe(true)
    expect(mayHappenLate(failed, 'authorization_cancelled')).toBe(false)
  })

  // guard: a take that shares its transfer with another never counts as late
  test('security: that shares its authorization with another payout never counts as still possible', () => {
    const failed = { kind: 'take', authorizationNonce: null, tries: 0 } as const
    expect(mayHappenLate(failed, 'authorization_conflict')).toBe(false)
  })

  test("shares a transaction only if the contract's `many` supports it", () => {
    const batched = Object.keys(guards).filter((kind) => isBatchable(kind as never))
    expect(batched).toEqual(['credit', 'repay', 'revoke', 'extend'])
  })

  test('without a guard against repetition is always a drip', () => {
    const unguarded = Object.entries(guards).filter(([, guard]) => guard === 'none')
    expect(unguarded.map(([kind]) => kind)).toEqual(['drip'])
  })
})

const refId = `pay_${'1'.repeat(22)}` as const
const wallet = '0xAbcdef0123456789abcdef0123456789abcdef01'
const signed = {
  from: wallet,
  to: `0x${'33'.repeat(20)}`,
  value: '0100',
  validAfter: '0',
  validBefore: '1790000000',
  nonce: `0x${'AB'.repeat(32)}`,
  signature: `0x${'CD'.repeat(65)}`,
} as const
const credit = (ausd: string, held = false): Task => ({
  kind: 'credit',
  payload: { refId, wallet, ausd, held },
})
const repay = (paidAt: string, held: boolean): Task => ({
  kind: 'repay',
  payload: { refId, wallet, ausd: '5', held, paidAt },
})
const revoke = (of: 'topup' | 'settlement'): Task => ({
  kind: 'revoke',
  payload: { refId, wallet, of },
})
const freeze = (frozen: boolean): Task => ({
  kind: 'freeze',
  payload: { wallet, frozen, revision: '17' },
})
const take = (authorization: SignedTransfer): Task => ({
  kind: 'take',
  payload: { payoutId: 'p1', authorization },
})

describe('an order', () => {
  // guard: a cause has one operation
  // together with: unique index chain_relayer.operation_once
  test('has the same id and content in any spelling of its addresses', () => {
    const spelled = { ...credit('5') } as { kind: 'credit'; payload: { wallet: string } }
    spelled.payload = { ...spelled.payload, wallet: wallet.toLowerCase() }
    expect(orderOf(asRead(spelled as Task))).toEqual(orderOf(asRead(credit('5'))))
  })

  test.each([
    ['another amount', credit('5'), credit('6')],
    ['a hold', credit('5'), credit('5', true)],
    ['another time of payment', repay('1790000000', false), repay('1790000001', false)],
    ['a hold of what repaid', repay('1790000000', false), repay('1790000000', true)],
    ['another thing to revoke', revoke('topup'), revoke('settlement')],
    ['the opposite', freeze(true), freeze(false)],
  ])('of the same cause with %s is a conflict', (_case, task, other) => {
    const [first, second] = [orderOf(task), orderOf(other)]
    expect(second.id).toBe(first.id)
    expect(second.contentHash).not.toBe(first.contentHash)
  })

  test.each([
    ['verify', { wallet, verified: true, revision: '17' }, `${wallet.toLowerCase()}:17`],
    ['drip', { wallet }, wallet.toLowerCase()],
    ['freeze', { wallet, frozen: true, revision: '17' }, `${wallet.toLowerCase()}:17`],
    ['credit', { refId, wallet, ausd: '1', held: true }, refId],
    ['repay', { refId: `${refId}.2`, wallet, ausd: '1', held: true, paidAt: '9' }, `${refId}.2`],
    ['revoke', { refId, wallet, of: 'topup' }, refId],
    ['revoke', { refId, wallet, of: 'topup', left: '07' }, `${refId}:7`],
    ['extend', { refId, wallet, until: '0170' }, `${refId}:170`],
    ['return', { payoutId: 'p1', wallet, ausd: '1' }, 'p1'],
    ['autorepay', { wallet, cycle: 3, attempt: 1 }, `${wallet.toLowerCase()}:3:1`],
    ['giveback', { txHash: '0x12', logIndex: 7, wallet, ausd: '1', nonce: null }, '0x12:7'],
  ] as const)('to %s is caused by %o', (kind, payload, cause) => {
    expect(orderOf(asRead({ kind, payload } as Task)).cause).toBe(cause)
  })

  test('to take is the same with any of its valid signatures', () => {
    const other = { ...signed, signature: `0x${'ef'.repeat(65)}` as const }
    expect(orderOf(take(other)).contentHash).toBe(orderOf(take(signed)).contentHash)
  })

  test('to take has the amount that will leave the wallet and the nonce it uses', () => {
    expect(orderOf(take(signed))).toMatchObject({
      wallet: wallet.toLowerCase(),
      leavesMicro: 100n,
      authorizationNonce: signed.nonce.toLowerCase(),
    })
  })

  test('to send is identified by wallet and nonce only', () => {
    const respelled = { ...canonical(signed), value: '7' }
    expect(sendIdOf(respelled)).toBe(sendIdOf(canonical(signed)))
  })
})
