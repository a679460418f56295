import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { money } from '#shared/money/money'
import { fromProviderAmount, toProviderAmount } from '#shared/provider/amount'

describe('a number from the provider', () => {
  test.each([
    ['5', 'MYR', 500n],
    ['5.0', 'MYR', 500n],
    ['5.00', 'MYR', 500n],
    ['5.000', 'MYR', 500n],
    ['0.01', 'MYR', 1n],
    ['1234567.89', 'MYR', 123_456_789n],
    ['9999999999999.99', 'MYR', 999_999_999_999_999n],
    ['0', 'IDR', 0n],
    ['10000', 'IDR', 10_000n],
    ['10000.0', 'IDR', 10_000n],
    ['50000000000', 'IDR', 50_000_000_000n],
    ['999999999999999', 'IDR', 999_999_999_999_999n],
  ] as const)('%s %s is %p in smallest units', (decimal, currency, minor) => {
    expect(fromProviderAmount({ decimal }, currency)).toEqual(money(minor, currency))
  })

  test.each([
    ['1e3', 'IDR', 'an exponent'],
    ['5.001', 'MYR', 'a tenth of a sen'],
    ['10000.5', 'IDR', 'half a rupiah'],
    ['-5', 'MYR', 'less than nothing'],
    ['-0', 'MYR', 'a signed zero'],
    ['1000000000000000', 'IDR', 'more than a float holds for certain'],
    ['78821616107235.59', 'MYR', 'more sen than a float holds'],
    ['', 'IDR', 'no number'],
    ['0x10', 'IDR', 'hex'],
    [' 5', 'IDR', 'a blank'],
  ] as const)('%s %s is refused: %s', (decimal, currency) => {
    expect(fromProviderAmount({ decimal }, currency)).toBeUndefined()
  })
})

describe('an amount sent to the provider', () => {
  test.each([
    [500n, 'MYR', '5'],
    [505n, 'MYR', '5.05'],
    [550n, 'MYR', '5.5'],
    [7n, 'MYR', '0.07'],
    [123_456_789n, 'MYR', '1234567.89'],
    [10_000n, 'IDR', '10000'],
  ] as const)('%p %s is written %s', (minor, currency, text) => {
    expect(JSON.stringify(toProviderAmount(money(minor, currency)))).toBe(text)
  })

  test('parses back to itself, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.bigInt(0n, 999_999_999_999_999n),
        fc.constantFrom('IDR' as const, 'MYR' as const),
        (minor, currency) => {
          const decimal = JSON.stringify(toProviderAmount(money(minor, currency)))
          expect(fromProviderAmount({ decimal }, currency)?.minor).toBe(minor)
        },
      ),
    )
  })

  test('that no JSON number represents exactly is not sent', () => {
    expect(() => toProviderAmount(money(9_007_199_254_740_993n, 'MYR'))).toThrow('no JSON number')
  })
})
