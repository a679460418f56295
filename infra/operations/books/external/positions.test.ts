import { describe, expect, test } from 'bun:test'
import { feeOf, positionOfMove } from './positions'

const line = '0x00000000000000000000000000000000000000Aa'
const user = '0x00000000000000000000000000000000000000bb'
const known = { isNamed: false, isAccepted: false, isRipe: true }
const move = (kind: 'mint' | 'burn' | 'in' | 'out' | 'credit' | 'repay' | 'revoke') =>
  ({ kind, wallet: user, key: null, ausdMicro: 5n }) as const

describe('books of a treasury movement', () => {
  test.each([
    ['mint', {}, 'mint', { treasury: 5n, capital: -5n }],
    ['burn', {}, 'burn', { treasury: -5n, capital: 5n }],
    ['in', {}, 'unexplained', { treasury: 5n, suspense: -5n }],
    ['in', { isRipe: false }, undefined, undefined],
    ['in', { isNamed: true }, 'explained', {}],
    ['in', { isAccepted: true, isRipe: false }, 'accepted', { treasury: 5n, capital: -5n }],
    ['in', { isAccepted: true, isNamed: true }, 'explained', {}],
    ['out', {}, undefined, undefined],
    ['out', { isNamed: true }, 'explained', {}],
    ['out', { isAccepted: true }, 'accepted', { treasury: -5n, capital: 5n }],
    ['credit', {}, undefined, undefined],
    ['repay', {}, undefined, undefined],
    ['revoke', {}, undefined, undefined],
  ] as const)('a movement %s with %o is booked as %s', (kind, change, event, lines) => {
    const books = positionOfMove(move(kind), line, { ...known, ...change })
    expect(books?.event).toBe(event as never)
    const found = books && Object.fromEntries(books.lines.map((one) => [one.account, one.amount]))
    expect(found).toEqual(lines as never)
  })

  test.each([
    ['out', { treasury: -5n, credit_line: 5n }],
    ['in', { treasury: 5n, credit_line: -5n }],
  ] as const)('a treasury movement %s of the credit line itself is booked as its pool', (kind, lines) => {
    const books = positionOfMove({ ...move(kind), wallet: '0x00000000000000000000000000000000000000aa' }, line, known)
    expect(Object.fromEntries(books!.lines.map((one) => [one.account, one.amount]))).toEqual(lines)
  })
})

describe('fee of a provider transaction', () => {
  test.each([
    ['ID', 'IDR', 5n, ['fees', 'provider_id']],
    ['MY', 'MYR', 5n, ['fees', 'provider_my']],
    ['ID', 'IDR', 0n, []],
    ['ID', 'USD', 5n, []],
    ['ID', null, 5n, []],
    ['ID', 'IDR', null, undefined],
  ] as const)('the fee of account %s in %s of %p is booked on %p', (account, currency, feeMinor, accounts) => {
    const lines = feeOf({ account, currency, feeMinor })
    expect(lines?.map((one) => one.account)).toEqual(accounts as never)
  })
})
