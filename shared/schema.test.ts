import { describe, expect, test } from 'bun:test'
import { Type } from 'typebox'
import { readerOf } from '#shared/schema'

const read = readerOf(
  Type.Object(
    {
      amount: Type.String({ pattern: '^[0-9]+$', says: 'must be a string of digits' }),
      bank: Type.Object(
        { code: Type.String({ maxLength: 5, says: 'must be at most 5 characters' }) },
        { additionalProperties: false },
      ),
    },
    { additionalProperties: false },
  ),
)
const bank = { code: 'ID_B' }

describe('a reader names the first thing that is wrong', () => {
  test.each([
    ['no body', undefined, 'the body must be a JSON object'],
    ['a list', [], 'the body must be a JSON object'],
    ['null', null, 'the body must be a JSON object'],
    ['a missing field', { bank }, 'amount is missing'],
    ['a missing inner field', { amount: '1', bank: {} }, 'bank.code is missing'],
    ['an unknown field', { amount: '1', bank, more: 1 }, 'more is not a known field'],
    [
      'an unknown inner field',
      { amount: '1', bank: { ...bank, x: 1 } },
      'bank.x is not a known field',
    ],
    ['a number for a string', { amount: 1, bank }, 'amount must be a string of digits'],
    ['a sign', { amount: '-1', bank }, 'amount must be a string of digits'],
    ['a trailing newline', { amount: '1\n', bank }, 'amount must be a string of digits'],
    [
      'too long inside',
      { amount: '1', bank: { code: 'abcdef' } },
      'bank.code must be at most 5 characters',
    ],
    ['a prototype key', { amount: '1', bank, constructor: 1 }, 'constructor is not a known field'],
  ])('%s', (_, value, fault) => {
    expect(read(value)).toEqual({ fault })
  })

  test('a good value comes back as it is', () => {
    expect(read({ amount: '1', bank })).toEqual({ value: { amount: '1', bank } })
  })
})
