import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Fiat, money, parseAmount } from '#shared/money/money'
import { toAusdCeil, toAusdFloor, toFiatCeil, toFiatFloor } from '#shared/money/rate'

describe('conversion at Rp 16,250 and RM 4.21 per dollar', () => {
  test.each([
    ['IDR', 50_000n, 16_250n, 3_076_923n],
    ['IDR', 10_000n, 16_250n, 615_384n],
    ['IDR', 16_250n, 16_250n, 1_000_000n],
    ['MYR', 500n, 421n, 1_187_648n],
    ['MYR', 421n, 421n, 1_000_000n],
    ['IDR', 0n, 16_250n, 0n],
  ] as const)('%s %p at %p is rounded down to %p micro-AUSD', (currency, minor, rate, micro) => {
    expect(toAusdFloor(money(minor, currency), { minorPerUsd: rate, currency }).minor).toBe(micro)
  })

  test.each([
    [1n, 16_250n, 1n, 0n],
    [1_000_000n, 16_250n, 16_250n, 16_250n],
    [1_000_001n, 16_250n, 16_251n, 16_250n],
    [0n, 16_250n, 0n, 0n],
  ])('%p micro-AUSD at %p is %p rounded up and %p rounded down', (micro, minorPerUsd, up, down) => {
    const rate = { minorPerUsd, currency: 'IDR' } as const
    expect(toFiatCeil(money(micro, 'AUSD'), rate).minor).toBe(up)
    expect(toFiatFloor(money(micro, 'AUSD'), rate).minor).toBe(down)
  })

  test('AUSD rounded up is the least that is worth the amount', () => {
    const amounts = fc.bigInt({ min: 1n, max: 10n ** 15n })
    const rates = fc.bigInt({ min: 1n, max: 10n ** 8n })
    fc.assert(
      fc.property(amounts, rates, (minor, minorPerUsd) => {
        const rate = { minorPerUsd, currency: 'IDR' } as const
        const ausd = toAusdCeil(money(minor, 'IDR'), rate)
        expect(toFiatFloor(ausd, rate).minor >= minor).toBe(true)
        expect(toFiatFloor(money(ausd.minor - 1n, 'AUSD'), rate).minor < minor).toBe(true)
      }),
    )
  })

  test('the charge of a settlement always covers the debt, and never by a whole unit more', () => {
    const debts = fc.bigInt({ min: 1n, max: 10n ** 15n })
    const rates = fc.bigInt({ min: 1n, max: 10n ** 6n })
    fc.assert(
      fc.property(debts, rates, fc.constantFrom<Fiat>('IDR', 'MYR'), (debt, minorPerUsd, currency) => {
        const rate = { minorPerUsd, currency }
        const due = toFiatCeil(money(debt, 'AUSD'), rate)
        const less = money(due.minor - 1n, currency)
        expect(due.minor * 1_000_000n >= debt * minorPerUsd).toBe(true)
        expect(less.minor * 1_000_000n < debt * minorPerUsd).toBe(true)
      }),
    )
  })

  test('converting back and forth never gains money', () => {
    const amounts = fc.bigInt({ min: 0n, max: 10n ** 15n })
    const rates = fc.bigInt({ min: 1n, max: 10n ** 6n })
    fc.assert(
      fc.property(amounts, rates, (minor, minorPerUsd) => {
        const rate = { minorPerUsd, currency: 'IDR' } as const
        const back = toFiatFloor(toAusdFloor(money(minor, 'IDR'), rate), rate)
        expect(back.minor <= minor).toBe(true)
      }),
    )
  })
})

describe('an amount is digits only', () => {
  test.each(['', '-1', '+1', '1.0', '1e3', ' 1', '1 ', '1\n', '0x1', '١', '9'.repeat(100)])('%p is refused', (text) => {
    expect(parseAmount(text)).toBeUndefined()
  })
  test.each([
    ['0', 0n],
    ['007', 7n],
    ['50000', 50_000n],
  ])('parses %p', (text, minor) => {
    expect(parseAmount(text)).toBe(minor)
  })
})
