import { describe, expect, test } from 'bun:test'
import { type Claimed, claimsOf } from './claims'

const clear: Claimed = { drawn: '0', encumbered: '0', defaulted: false, frozen: false }

describe('the claims on the holder of an account', () => {
  test.each<[string, Partial<Claimed>, string[]]>([
    ['owes nothing', {}, []],
    ['owes one unit', { drawn: '1' }, ['the wallet owes 1 micro-AUSD']],
    [
      'repaid its debt with money that can be reversed',
      { encumbered: '7' },
      ['7 micro-AUSD of its debt were repaid with money that can be reversed'],
    ],
    ['defaulted and repaid everything since', { defaulted: true }, ['the wallet has defaulted']],
    ['is frozen', { frozen: true }, ['the wallet is frozen']],
    [
      'owes after a default',
      { drawn: '5', defaulted: true, frozen: true },
      ['the wallet owes 5 micro-AUSD', 'the wallet has defaulted', 'the wallet is frozen'],
    ],
  ])('an account that %s has exactly its claims', (_case, over, claims) => {
    expect(claimsOf({ ...clear, ...over })).toEqual(claims)
  })
})
