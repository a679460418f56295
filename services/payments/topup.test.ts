import { describe, expect, test } from 'bun:test'
import { channelKind, isHeld } from './channel'
import { priceSettlement, settlementLifecycle } from './settlement'
import { priceTopup, topupLifecycle } from './topup'

describe('what a top-up costs and gives', () => {
  test.each([
    ['USD/IDR', 16250n, 10_000n, 615_384n],
    ['USD/IDR', 16250n, 16_250n, 1_000_000n],
    ['USD/IDR', 16250n, 50_000_000_000n, 3_076_923_076_923n],
    ['USD/MYR', 421n, 500n, 1_187_648n],
    ['USD/MYR', 421n, 100_000_000n, 237_529_691_211n],
  ] as const)(
    '%s at %p: %p gives %p micro AUSD',
    (pair, rateMinorPerUsd, amountMinor, ausdMicro) => {
      const price = priceTopup({ amountMinor, method: 'qr', pair, rateMinorPerUsd })
      const currency = pair === 'USD/IDR' ? 'IDR' : 'MYR'
      expect(price).toEqual({ ok: { currency, fiatMinor: amountMinor, ausdMicro } })
    },
  )

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

describe('what a settlement costs', () => {
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

describe('money by', () => {
  test.each([
    ['QRIS', 'qr', false],
    ['BCA_VIRTUAL_ACCOUNT', 'bank', false],
    ['AMBANK_VIRTUAL_ACCOUNT', 'bank', false],
    ['MAYB2U_FPX', 'bank', false],
    ['CIMB_FPX_BUSINESS', 'bank', false],
    ['BRI_DIRECT_DEBIT', 'direct_debit', true],
    ['DUITNOW_PAY', 'bank', false],
    ['CARDS', 'card', true],
    ['GOPAY', 'ewallet', true],
    ['SHOPEEPAY', 'ewallet', true],
    ['INDOMARET', 'counter', true],
    ['ATOME', 'paylater', true],
    ['NEVER_SEEN_VIRTUAL_ACCOUNT', 'unknown', true],
    ['qris', 'unknown', true],
    ['constructor', 'unknown', true],
    ['', 'unknown', true],
  ] as const)('%s is %s, held: %p', (code, kind, held) => {
    expect([channelKind(code), isHeld(code)]).toEqual([kind, held])
  })
})

describe('the lifecycles', () => {
  test.each([
    ['top-up', topupLifecycle],
    ['settlement', settlementLifecycle],
  ] as const)('of a %s name only states they have, and let a person end each', (_, lifecycle) => {
    const table = lifecycle as Record<string, readonly string[]>
    for (const [state, next] of Object.entries(table)) {
      for (const after of next) expect(Object.keys(table)).toContain(after)
      if (state !== 'review') expect(next).toContain('review')
    }
  })

  test('never let money that was received become unreceived', () => {
    const received = ['paid', 'held', 'credited', 'repaid', 'revoking', 'revoked', 'refunded']
    const waiting = ['opening', 'awaiting_payment', 'expired', 'replaced']
    for (const table of [topupLifecycle, settlementLifecycle])
      for (const state of received) {
        const next = (table as Record<string, readonly string[]>)[state] ?? []
        expect(next.filter((after) => waiting.includes(after))).toEqual([])
      }
  })
})
