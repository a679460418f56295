import { describe, expect, test } from 'bun:test'
import { chargeFee, lateWorthFloor, limitTopup, priceSettlement, priceTopup } from './price'

describe('the price and yield of a top-up', () => {
  test.each([
    ['USD/IDR', 16250n, 10_000n, 615_384n],
    ['USD/IDR', 16250n, 16_250n, 1_000_000n],
    ['USD/IDR', 16250n, 50_000_000_000n, 3_076_923_076_923n],
    ['USD/MYR', 421n, 500n, 1_187_648n],
    ['USD/MYR', 421n, 100_000_000n, 237_529_691_211n],
  ] as const)('%s at %p: %p gives %p micro AUSD', (pair, rateMinorPerUsd, amountMinor, ausdMicro) => {
    const price = priceTopup({ amountMinor, method: 'qr', pair, rateMinorPerUsd })
    const currency = pair === 'USD/IDR' ? 'IDR' : 'MYR'
    expect(price).toEqual({ ok: { currency, fiatMinor: amountMinor, ausdMicro } })
  })

  test.each([
    ['USD/IDR', 'qr', 0n, 'amount_below_minimum_idr'],
    ['USD/IDR', 'qr', 9_999n, 'amount_below_minimum_idr'],
    ['USD/IDR', 'qr', 50_000_000_001n, 'amount_above_maximum'],
    ['USD/IDR', 'card', 200_000_001n, 'amount_above_maximum'],
    ['USD/MYR', 'bank', 499n, 'amount_below_minimum_myr'],
    ['USD/MYR', 'bank', 100_000_001n, 'amount_above_maximum'],
    ['USD/MYR', 'card', 500_001n, 'amount_above_maximum'],
  ] as const)('%s by %s: %p is refused with %s', (pair, method, amountMinor, refused) => {
    expect(priceTopup({ amountMinor, method, pair, rateMinorPerUsd: 421n })).toEqual({ refused })
  })
})

describe('the price of a settlement', () => {
  test.each([
    ['USD/IDR', 16250n, 1_000_000n, 16_250n],
    ['USD/IDR', 16250n, 1_000_001n, 16_251n],
    ['USD/IDR', 16250n, 1n, 1n],
    ['USD/MYR', 421n, 237_530n, 101n],
    ['USD/MYR', 421n, 237_529n, 100n],
    ['USD/MYR', 421n, 1_000_001n, 422n],
  ] as const)('%s at %p: a debt of %p costs %p', (pair, rateMinorPerUsd, drawnMicro, fiatMinor) => {
    const price = priceSettlement({ drawnMicro, pair, rateMinorPerUsd })
    expect(price).toMatchObject({ ok: { fiatMinor, ausdMicro: drawnMicro } })
  })

  test.each([
    ['USD/IDR', 0n, 'nothing_owed'],
    ['USD/MYR', 235_154n, 'debt_too_small'],
    ['USD/MYR', 300_000_000_000n, 'amount_above_maximum'],
  ] as const)('%s: a debt of %p is refused with %s', (pair, drawnMicro, refused) => {
    expect(priceSettlement({ drawnMicro, pair, rateMinorPerUsd: 421n })).toEqual({ refused })
  })
})

describe('the fee of a payment', () => {
  const topup = { currency: 'IDR', fiatMinor: 100_000n, ausdMicro: 6_153_846n, rateMinorPerUsd: 16_250n } as const
  const ringgit = { currency: 'MYR', fiatMinor: 500n, ausdMicro: 1_187_648n, rateMinorPerUsd: 421n } as const
  const [fees, ofMalaysia] = ['bank=4440+0,qr=0+70,card=2220+322', 'bank=120+0,card=0+1000']
  test.each([
    ['a payment without fees', { ...topup, topupFees: null }, 'card', 0n, 6_153_846n],
    ['a top-up by bank', { ...topup, topupFees: fees }, 'bank', 4_440n, 5_880_615n],
    ['a top-up by QR', { ...topup, topupFees: fees }, 'qr', 700n, 6_110_769n],
    ['a top-up by card', { ...topup, topupFees: fees }, 'card', 5_440n, 5_819_076n],
    ['a top-up by a channel without a fee', { ...topup, topupFees: fees }, 'counter', 0n, 6_153_846n],
    ['a top-up by an unknown channel', { ...topup, topupFees: fees }, 'unknown', 0n, 6_153_846n],
    ['the least top-up in ringgit by bank', { ...ringgit, topupFees: ofMalaysia }, 'bank', 120n, 902_612n],
    ['the least top-up in ringgit by card', { ...ringgit, topupFees: ofMalaysia }, 'card', 50n, 1_068_883n],
    ['a payment of one rupiah', { ...topup, fiatMinor: 1n, ausdMicro: 61n, topupFees: fees }, 'bank', 0n, 61n],
    ['a payment of two rupiah', { ...topup, fiatMinor: 2n, ausdMicro: 123n, topupFees: fees }, 'bank', 1n, 61n],
  ] as const)('%s by its channel leaves AUSD for the rest', (_, payment, channel, feeMinor, ausdMicro) => {
    expect(chargeFee(payment, channel)).toEqual({ feeMinor, ausdMicro })
  })

  test('leaves AUSD of any amount, at the highest rate that a quote can have', () => {
    for (const fiatMinor of [1n, 2n, 9n, 10n, 11n, 100n]) {
      const paid = { ...topup, fiatMinor, rateMinorPerUsd: 262_143n, topupFees: 'bank=8000+1000' }
      expect(chargeFee(paid, 'bank').ausdMicro).toBeGreaterThan(0n)
    }
  })
})

describe('the value of late money', () => {
  const locked = { currency: 'IDR', rateMinorPerUsd: 10_000n } as const
  test.each([
    ['settlement', 1_000_000n, 100_000_000n, 10_100n, undefined],
    ['settlement', 1_000_000n, 100_000_000n, 10_101n, 99_000_099n],
    ['settlement', 1_000_000n, 100_000_000n, 9_000n, undefined],
    // A debt of a millionth costs a whole rupiah, so it is not worth more at any rate.
    ['settlement', 1n, 1n, 20_000n, 1n],
    ['topup', 1_000_000n, 100_000_000n, 10_000n, undefined],
    ['topup', 1_000_000n, 100_000_000n, 10_001n, 99_990_000n],
    ['topup', 1_000_000n, 100_000_000n, 10_100n, 99_009_900n],
    ['topup', 1_000_000n, 100_000_000n, 9_999n, undefined],
  ] as const)('%s of Rp %p for %p, now at %p: %p', (kind, fiatMinor, ausdMicro, present, worth) => {
    const late = lateWorthFloor({ ...locked, kind, fiatMinor, feeMinor: 0n, ausdMicro }, present)
    expect(late?.ausdMicro).toBe(worth)
    if (late) expect(late).toMatchObject({ promisedMicro: ausdMicro, lateRateMinorPerUsd: present })
  })
})

// guard: the fee of late money buys nothing
test('late money with a fee is worth the rest after the fee', () => {
  const locked = { currency: 'IDR', fiatMinor: 100_000n, feeMinor: 700n, ausdMicro: 6_110_769n } as const
  const late = lateWorthFloor({ ...locked, kind: 'topup', rateMinorPerUsd: 16_250n }, 16_900n)
  expect(late?.ausdMicro).toBe(5_875_739n)
})

describe('another top-up of a wallet', () => {
  const limits = { openMax: 3, openMicroMax: 50n, dayCountMax: 5, dayMicroMax: 100n }
  const none = { openCount: 0, openMicro: 0n, dayCount: 0, dayMicro: 0n }
  test.each([
    ['as much as may be open', 50n, {}, undefined],
    ['more than a whole day allows', 101n, {}, 'amount_above_day_limit'],
    ['more than may be open', 51n, {}, 'topups_open_too_much'],
    ['the last that may be open', 1n, { openCount: 2 }, undefined],
    ['one more', 1n, { openCount: 3 }, 'topups_open_too_many'],
    ['too much together with the open ones', 10n, { openMicro: 41n }, 'topups_open_too_much'],
    ['the last of the day', 1n, { dayCount: 4 }, undefined],
    // guard: a wallet's top-ups of a day are limited in number
    ['one more than the day allows', 1n, { dayCount: 5 }, 'topups_day_too_many'],
    ['the rest of the day', 10n, { dayMicro: 90n }, undefined],
    // guard: a wallet's top-ups of a day have a limit
    ['more than the rest', 10n, { dayMicro: 91n }, 'day_limit_reached'],
    ['both', 10n, { openMicro: 41n, dayMicro: 91n }, 'topups_open_too_much'],
  ] as const)('%s', (_, ausdMicro, totals, refused) => {
    expect(limitTopup(ausdMicro, { ...none, ...totals }, limits)).toBe(refused as never)
  })
})
