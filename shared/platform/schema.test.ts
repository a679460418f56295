import { describe, expect, test } from 'bun:test'
import { Type } from 'typebox'
import { schemaReader } from '#platform/schema'
import { Address, Authorization } from '#shared/messages/fields'

const read = schemaReader(
  Type.Object(
    {
      amount: Type.String({ pattern: '^[0-9]+$', says: 'amount' }),
      bank: Type.Object({ code: Type.String({ maxLength: 5, says: 'bank_code' }) }, { additionalProperties: false }),
    },
    { additionalProperties: false },
  ),
)
const bank = { code: 'ID_B' }

describe('a reader names the first error', () => {
  test.each([
    ['no body', undefined, 'the body must be a JSON object'],
    ['a list', [], 'the body must be a JSON object'],
    ['null', null, 'the body must be a JSON object'],
    ['a missing field', { bank }, 'amount is missing'],
    ['a missing inner field', { amount: '1', bank: {} }, 'bank.code is missing'],
    ['an unknown field', { amount: '1', bank, more: 1 }, 'more is not a known field'],
    ['an unknown inner field', { amount: '1', bank: { ...bank, x: 1 } }, 'bank.x is not a known field'],
    ['a number for a string', { amount: 1, bank }, 'amount is not a valid amount'],
    ['a sign', { amount: '-1', bank }, 'amount is not a valid amount'],
    ['a trailing newline', { amount: '1\n', bank }, 'amount is not a valid amount'],
    ['too long inside', { amount: '1', bank: { code: 'abcdef' } }, 'bank.code is not a valid bank_code'],
    ['a prototype key', { amount: '1', bank, constructor: 1 }, 'constructor is not a known field'],
  ])('%s', (_, value, fault) => {
    expect(read(value)).toMatchObject({ fault })
  })

  test('a valid value is returned unchanged', () => {
    expect(read({ amount: '1', bank })).toEqual({ value: { amount: '1', bank } })
  })
})

describe('addresses are read in lower case', () => {
  const written = `0x${'aB'.repeat(20)}`
  const read = schemaReader(
    Type.Object({
      wallet: Address,
      found: Type.Union([Address, Type.Null()]),
      amount: Type.String({ pattern: '^[0-9]+$', says: 'amount' }),
      parts: Type.Optional(Type.Array(Type.Object({ to: Address }))),
    }),
  )

  test('at every position, and all else stays unchanged', () => {
    const value = {
      wallet: written,
      found: written,
      amount: '0010',
      parts: [{ to: written }],
      x: 'X',
    }
    const lower = written.toLowerCase()
    expect(read(value)).toEqual({
      value: {
        wallet: lower,
        found: lower,
        amount: '0010',
        parts: [{ to: lower }],
        x: 'X',
      } as never,
    })
    expect(read({ wallet: written, found: null, amount: '1' })).toEqual({
      value: { wallet: lower, found: null, amount: '1' } as never,
    })
  })

  test('in every variant of a value with several forms', () => {
    const read = schemaReader(
      Type.Union([
        Type.Object({ ok: Type.Object({ wallets: Type.Array(Address) }) }),
        Type.Object({ refused: Type.String() }),
      ]),
    )
    expect(read({ ok: { wallets: [written, written] } })).toEqual({
      value: { ok: { wallets: [written.toLowerCase(), written.toLowerCase()] } } as never,
    })
    expect(read({ refused: 'X' })).toEqual({ value: { refused: 'X' } })
    expect(read({ ok: { wallets: [1] } })).toHaveProperty('fault')
  })

  test('and no value is converted to fit', () => {
    const fault = 'amount is not a valid amount'
    expect(read({ wallet: written, found: null, amount: 10 })).toMatchObject({ fault })
  })

  test('and so are nonce and signature of an authorization', () => {
    const given = {
      from: written,
      to: written,
      value: '0007',
      validAfter: '00',
      validBefore: '9',
      nonce: `0x${'CD'.repeat(32)}`,
      signature: `0x${'EF'.repeat(65)}`,
    }
    const lower = Object.fromEntries(Object.entries(given).map(([name, text]) => [name, text.toLowerCase()]))
    expect(schemaReader(Authorization)(given)).toEqual({ value: lower as never })
  })
})
