import { describe, expect, test } from 'bun:test'
import { readConfig } from '#platform/config'
import { operatorFields, operatorRules } from './operators'

const address = (digit: string) => `0x${digit.repeat(40)}`
const read = (operators?: string, more: NodeJS.ProcessEnv = {}) =>
  readConfig('payments', operatorFields, {
    CREDIT_LINE_ADDRESS: address('C'),
    ...(operators !== undefined && { OPERATORS: operators }),
    ...more,
  })

test('a deployment names no operators unless OPERATORS does', () => {
  expect(operatorRules(read())).toEqual({
    operators: [],
    aboveMicro: 100_000_000n,
    deployment: `10143:${address('c')}`,
  })
})

test('OPERATORS names each operator with an address in lower case', () => {
  const rules = operatorRules(read(`alice:${address('A')}, bob:${address('b')}`, { TWO_OPERATORS_ABOVE_AUSD: '0' }))
  expect(rules.operators).toEqual([
    { name: 'alice', address: address('a') as `0x${string}` },
    { name: 'bob', address: address('b') as `0x${string}` },
  ])
  expect(rules.aboveMicro).toBe(0n)
})

describe('OPERATORS is a fault with', () => {
  test.each([
    ['one operator', `alice:${address('a')}`, 'at least two operators'],
    ['a name twice', `alice:${address('a')},alice:${address('b')}`, 'must not name an operator twice'],
    ['an address twice, in any case', `alice:${address('a')},bob:${address('A')}`, 'the same address'],
    ['a name without an address', 'alice,bob', 'must be name:address'],
    ['a name in capitals', `Alice:${address('a')},bob:${address('b')}`, 'must be name:address'],
    ['a key instead of an address', `alice:0x${'a'.repeat(64)},bob:${address('b')}`, 'must be name:address'],
  ])('%s', (_, operators, fault) => {
    expect(() => read(operators)).toThrow(fault)
  })
})
