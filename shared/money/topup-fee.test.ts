import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { countryBy } from '#shared/money/countries'
import { fiatOf, pairs } from '#shared/money/pair'
import {
  feeChannels,
  noTopupFees,
  quotedTopupFees,
  topupFeeFloor,
  topupFeesField,
  topupFeesFrom,
  topupFeesMetadata,
  topupFeesOfMetadata,
  topupFeesText,
  wireTopupFees,
} from './topup-fee'

const fees = topupFeesFrom('bank=4440+0,qr=0+70,card=2220+322')
const { parse, fallback = '' } = topupFeesField({ about: 'fees' })

describe('the fee of a top-up', () => {
  test.each([
    ['bank', 10_000n, 4_440n],
    ['bank', 50_000_000n, 4_440n],
    ['qr', 100_000n, 700n],
    // 0.7 % of Rp 10,001 are Rp 70.007, and 0.7 % of Rp 142 are Rp 0.994.
    ['qr', 10_001n, 70n],
    ['qr', 142n, 0n],
    ['card', 100_000n, 5_440n],
    ['card', 10_001n, 2_542n],
    // A channel that the fees do not name, and one that the service does not know.
    ['ewallet', 100_000n, 0n],
    ['unknown', 100_000n, 0n],
  ] as const)('by %s of %p is fixed plus basis points, rounded down: %p', (channel, amountMinor, fee) => {
    expect(topupFeeFloor(amountMinor, channel, fees)).toBe(fee)
  })

  // guard: a fee leaves a part of every top-up
  test.each([
    [4_440n, 3_996n],
    [4_933n, 4_439n],
    [4_934n, 4_440n],
    [10n, 9n],
    [1n, 0n],
  ] as const)('is at most nine tenths of the money: of %p it is %p', (amountMinor, fee) => {
    expect(topupFeeFloor(amountMinor, 'bank', fees)).toBe(fee)
  })

  test('is nothing without fees', () => {
    expect(topupFeeFloor(10_000n, 'card', noTopupFees)).toBe(0n)
  })

  test('is exactly that of the fees, and leaves a tenth, for any fees that can be set and any amount from the least top-up', () => {
    const settable = fc.record({
      pair: fc.constantFrom(...pairs),
      fixed: fc.bigInt({ min: 0n, max: 8_000n }),
      bps: fc.bigInt({ min: 0n, max: 1_000n }),
      more: fc.bigInt({ min: 0n, max: 10n ** 12n }),
    })
    fc.assert(
      fc.property(settable, ({ pair, fixed, bps, more }) => {
        const currency = fiatOf(pair)
        const fixedMinor = currency === 'MYR' ? fixed / 20n : fixed
        const set = parse(`${currency}:card=${fixedMinor}+${bps}`).get(pair)!
        const amountMinor = countryBy('pair', pair).topupMinMinor + more
        const feeMinor = topupFeeFloor(amountMinor, 'card', set)
        expect(feeMinor).toBe(fixedMinor + (amountMinor * bps) / 10_000n)
        expect((amountMinor - feeMinor) * 10n).toBeGreaterThanOrEqual(amountMinor)
      }),
    )
  })
})

describe('the fees of top-ups', () => {
  test('are none by default', () => {
    expect([...parse(fallback).values()]).toEqual([[], []])
  })

  test('are set by currency and channel, in any order; a fee of nothing is none', () => {
    const set = parse('MYR:bank=120+0, IDR:card=2220+322, IDR:qr=0+70,IDR:ewallet=0+0')
    expect(topupFeesText(set.get('USD/IDR')!)).toBe('qr=0+70,card=2220+322')
    expect(set.get('USD/MYR')).toEqual([{ channel: 'bank', fixedMinor: 120n, bps: 0n }])
  })

  test.each([
    '',
    'card=2220+322',
    'USD:card=1+0',
    'IDR:cards=1+0',
    'IDR:unknown=1+0',
    'IDR:card',
    'IDR:card=2220',
    'IDR:card=-1+0',
    'IDR:card=1+2.5',
    'IDR:card=8001+0',
    'IDR:card=0+1001',
    'MYR:bank=401+0',
    'IDR:card=1+0,IDR:card=2+0',
    'none,IDR:card=1+0',
    // A colon in the place of a comma.
    'IDR:bank=4440+0:qr=0+70',
    'IDR:card=1+0=2',
    // Malaysia has no channel of these kinds: DuitNow is `bank`.
    'MYR:qr=0+70',
    'MYR:counter=1+0',
  ])('are not set as "%s"', (raw) => {
    expect(() => parse(raw)).toThrow()
  })

  test('are the same after a message, after a row and after the metadata of a checkout', () => {
    expect(quotedTopupFees(wireTopupFees(fees))).toEqual(fees)
    expect(topupFeesFrom(topupFeesText(fees))).toEqual(fees)
    expect(topupFeesFrom('')).toEqual([])
    const metadata: Record<string, string> = topupFeesMetadata(fees)
    expect(metadata).toEqual({ fee_bank: '4440+0', fee_qr: '0+70', fee_card: '2220+322' })
    expect(topupFeesOfMetadata((name) => metadata[name] ?? '')).toEqual(fees)
    expect(quotedTopupFees(undefined)).toEqual([])
  })

  test('may name every channel but an unknown one', () => {
    expect(feeChannels as readonly string[]).not.toContain('unknown')
    for (const channel of feeChannels) expect(topupFeesFrom(`${channel}=1+1`)).toHaveLength(1)
  })
})
