import { describe, expect, test } from 'bun:test'
import { formatMoney, majorFromMinor, minorFromMajor } from './money'

describe("an amount in the provider's format", () => {
  test.each([
    [50_000, 'IDR', 50_000n],
    [5, 'MYR', 500n],
    [5.1, 'MYR', 510n],
    [1234.05, 'MYR', 123_405n],
    [1_999_999_999_999, 'IDR', 1_999_999_999_999n],
  ] as const)('%p %s is %p in minor units, and converts back', (major, currency, minor) => {
    expect(minorFromMajor(major, currency)).toBe(minor)
    expect(majorFromMinor(minor, currency)).toBe(major)
  })

  test.each([
    [0.5, 'IDR'],
    [1.005, 'MYR'],
    [-1, 'IDR'],
    [Number.NaN, 'IDR'],
    [1e21, 'IDR'],
  ] as const)('%p is not a valid amount of %s', (major, currency) => {
    expect(minorFromMajor(major, currency)).toBeNull()
  })

  test.each([
    [50_000n, 'IDR', 'Rp 50.000'],
    [999n, 'IDR', 'Rp 999'],
    [500n, 'MYR', 'RM 5.00'],
    [7n, 'MYR', 'RM 0.07'],
    [123_456_789n, 'MYR', 'RM 1,234,567.89'],
  ] as const)('%p %s is displayed as %s', (minor, currency, text) => {
    expect(formatMoney(minor, currency)).toBe(text)
  })
})
