import { describe, expect, test } from 'bun:test'
import type { Pair } from '#shared/money/pair'
import {
  distanceBpsCeil,
  localE8From,
  localE8FromMinor,
  minorPerUsdText,
  quotedMinorPerUsdCeil,
  quotedMinorPerUsdFloor,
} from './rate'

const sighting = (pair: Pair, localE8PerUsd: bigint) => ({
  source: 's',
  pair,
  localE8PerUsd,
  asOfMs: 0,
})

describe('a number from a rate source', () => {
  test.each([
    [16_250.5, 1_625_050_000_000n],
    [4.2135, 421_350_000n],
    ['4.213500001', 421_350_000n],
    [1, 100_000_000n],
    [0, undefined],
    ['-4.2', undefined],
    [1e21, undefined],
    [Number.NaN, undefined],
    [null, undefined],
    ['4,2', undefined],
    [[4.2], undefined],
  ])('%p is %p hundred-millionths', (value, expected) => {
    expect(localE8From(value)).toBe(expected)
  })
})

describe('the rate of a quote', () => {
  test.each([
    ['USD/IDR', 1_625_000_000_000n, 0n, 16_250n],
    ['USD/IDR', 1_625_000_000_001n, 0n, 16_251n],
    ['USD/IDR', 1_625_050_000_000n, 50n, 16_332n],
    ['USD/MYR', 421_000_000n, 0n, 421n],
    ['USD/MYR', 421_350_000n, 0n, 422n],
    ['USD/MYR', 421_000_000n, 100n, 426n],
  ] as const)('%s at %p plus %p bps is %p', (pair, localE8PerUsd, spreadBps, minorPerUsd) => {
    expect(quotedMinorPerUsdCeil(sighting(pair, localE8PerUsd), spreadBps)).toBe(minorPerUsd)
  })

  test('of a cash-out while the market is closed is rounded down', () => {
    expect(quotedMinorPerUsdFloor(sighting('USD/IDR', 1_625_050_000_000n), -50n)).toBe(16_169n)
  })

  test('of a configured rate without spread is that rate', () => {
    for (const [pair, minor] of [
      ['USD/IDR', 16_250n],
      ['USD/MYR', 421n],
    ] as const)
      expect(quotedMinorPerUsdCeil(sighting(pair, localE8FromMinor(minor, pair)), 0n)).toBe(minor)
  })
})

test.each([
  ['USD/IDR', 1_625_000_000_000n, '16250'],
  ['USD/IDR', 1_625_000_000_001n, '16250.00000001'],
  ['USD/MYR', 421_350_000n, '421.35'],
  ['USD/MYR', 1n, '0.000001'],
] as const)('the reference rate of %s at %p is written exactly: %s', (pair, localE8PerUsd, text) => {
  expect(minorPerUsdText(sighting(pair, localE8PerUsd))).toBe(text)
})

test.each([
  [10_000n, 10_000n, 0n],
  [10_000n, 10_100n, 100n],
  [10_000n, 9_900n, 100n],
  [1_000_000n, 1_010_001n, 101n],
])('%p and %p differ by %p basis points', (from, to, bps) => {
  expect(distanceBpsCeil(sighting('USD/IDR', from), sighting('USD/IDR', to))).toBe(bps)
})
