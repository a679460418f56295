import { describe, expect, test } from 'bun:test'
import type { Me } from '#shared/client/client'
import { canRepayAutomatically, shortageOf, startsAt } from './auto-repay'
import type { ClientConfig } from './chain'

const day = 86_400

test.each([
  ['a day before the due date', 30 * day, 900_000 - day],
  ['a day before it, if the term is two days', 2 * day, 900_000 - day],
  ['at half of a shorter term', 2 * day - 1, 900_000 - day + 1],
  ['at half of a term of an odd second, rounded as the contract does', 7, 900_000 - 3],
])('an automatic repayment starts %s', (_, term, at) => {
  expect(startsAt('900000', term)).toBe(String(at))
})

test('the page offers an automatic repayment only with a credit line that has it', () => {
  const of = (gasLimits: object) => canRepayAutomatically({ chain: { gasLimits } } as Pick<ClientConfig, 'chain'>)
  expect(of({ draw: '1', setAutoRepay: '2', approve: '3' })).toBe(true)
  expect(of({ draw: '1' })).toBe(false)
  expect(of({ draw: '1', setAutoRepay: '2' })).toBe(false)
})

describe('what keeps a debt from being repaid automatically', () => {
  type Case = { drawn?: string; max?: string; taken?: string; wallet?: string; collateral?: string }
  const shortage = (source: 'wallet' | 'collateral', given: Case) => {
    const { drawn = '50', max = '80', taken = '0', wallet = '50', collateral = '50' } = given
    return shortageOf({
      drawn,
      balance: { ausd: wallet },
      collateral: { value: collateral },
      autoRepay: { maxPerCycle: max, source, taken, startsAt: '9' },
    } as Me)
  }
  test.each<[string, 'wallet' | 'collateral', Case, object | undefined]>([
    ['nothing, if the wallet has exactly the debt', 'wallet', {}, undefined],
    ['the wallet, if it has less', 'wallet', { wallet: '49' }, { kind: 'source', has: '49', needed: '50' }],
    ['not the collateral, if the wallet pays', 'wallet', { collateral: '0' }, undefined],
    ['the collateral, if it is less', 'collateral', { collateral: '49' }, { kind: 'source', has: '49', needed: '50' }],
    ['not the wallet, if the collateral pays', 'collateral', { wallet: '0' }, undefined],
    ['the bound, if the debt is more', 'wallet', { max: '30' }, { kind: 'most', rest: '20' }],
    ['what is left of the bound', 'wallet', { taken: '60' }, { kind: 'most', rest: '30' }],
    ['the wallet before the bound', 'wallet', { max: '30', wallet: '29' }, { kind: 'source', has: '29', needed: '30' }],
    ['the bound, if it was used in this cycle', 'collateral', { taken: '80' }, { kind: 'used', rest: '50' }],
    ['the bound, if it was lowered below that', 'wallet', { taken: '90' }, { kind: 'used', rest: '50' }],
    ['nothing, if nothing is owed', 'wallet', { drawn: '0', wallet: '0', taken: '80' }, undefined],
  ])('is %s', (_, source, given, expected) => {
    expect(shortage(source, given)).toEqual(expected as ReturnType<typeof shortage>)
  })
  test('is the approval of the wallet, if the credit line may take less than is needed', () => {
    const me = { drawn: '50', balance: { ausd: '50' }, collateral: { value: '50' } }
    const given = (source: 'wallet' | 'collateral', allowance?: string) =>
      shortageOf({ ...me, autoRepay: { maxPerCycle: '80', source, taken: '0', startsAt: '9' } } as Me, allowance)
    expect(given('wallet', '49')).toEqual({ kind: 'approval', needed: '50' })
    expect([given('wallet', '50'), given('wallet'), given('collateral', '0')]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })
  test('is nothing without a permission', () => {
    expect(shortageOf({ drawn: '5', balance: { ausd: '0' }, autoRepay: null } as Me)).toBeUndefined()
  })
})
