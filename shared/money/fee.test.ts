import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { amountBeforeFee, bpsMax, feeCeil, feeField } from './fee'

describe('a fee', () => {
  test.each([
    [100_000n, { fixedMinor: 0n, bps: 0n }, 0n],
    [100_000n, { fixedMinor: 5_550n, bps: 0n }, 5_550n],
    [100_000n, { fixedMinor: 5_550n, bps: 25n }, 5_800n],
    [10_001n, { fixedMinor: 0n, bps: 1n }, 2n],
    [1n, { fixedMinor: 0n, bps: 1n }, 1n],
    [0n, { fixedMinor: 5_550n, bps: 25n }, 5_550n],
  ])('of %p is fixed plus basis points, rounded up: %p is %p', (amountMinor, fee, expected) => {
    expect(feeCeil(amountMinor, fee)).toBe(expected)
  })

  test('is added to an amount so that just that much is left', () => {
    const fees = fc.record({
      fixedMinor: fc.bigInt({ min: 0n, max: 100_000n }),
      bps: fc.bigInt({ min: 0n, max: bpsMax }),
    })
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 15n }), fees, (restMinor, fee) => {
        const left = (amountMinor: bigint) => amountMinor - feeCeil(amountMinor, fee)
        const amountMinor = amountBeforeFee(restMinor, fee)
        expect(left(amountMinor)).toBe(restMinor)
        expect(left(amountMinor - 1n) < restMinor).toBe(true)
      }),
    )
  })

  const { parse } = feeField({ about: 'fee', fixedMax: 100_000n })
  test.each([
    ['0+0', { fixedMinor: 0n, bps: 0n }],
    ['5550+25', { fixedMinor: 5_550n, bps: 25n }],
    ['100000+1000', { fixedMinor: 100_000n, bps: 1_000n }],
  ])('is set as %s', (raw, fee) => {
    expect(parse(raw)).toEqual(fee)
  })
  test.each(['', '5550', '5550+', '+25', '5550+2.5', '-1+0', '100001+0', '0+1001', '5550 + 25'])(
    'is not set as "%s"',
    (raw) => {
      expect(() => parse(raw)).toThrow('must be')
    },
  )
})
