import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { atRate, forBank, microFor } from './conversion'
import { cashoutFor } from './format'

const rupiah = { pair: 'USD/IDR', rate: '16250' } as const
const ringgit = { pair: 'USD/MYR', rate: '421' } as const
const charged = { ...rupiah, reason: 'market_open', cashoutFee: { fixed: '5550', bps: 25 } } as const

test.each([
  ['Rp 500,000 to borrow', atRate(rupiah, 'down'), '500000', '118760000', '30769231', '500000'],
  ['Rp 1 to send', atRate(rupiah, 'down'), '1', '118760000', '62', '1'],
  ['RM 12.63 to send', atRate(ringgit, 'down'), '1263', '3000000', '3000000', '1263'],
  ['RM 12.62 to send', atRate(ringgit, 'down'), '1262', '3000000', '2997625', '1262'],
  ['what a balance is worth', atRate(rupiah, 'down'), '48750', '3000061', '3000061', '48750'],
  ['what a debt is worth', atRate(rupiah, 'up'), '48751', '3000001', '3000001', '48751'],
  ['Rp 1 less than a debt', atRate(rupiah, 'up'), '48750', '3000001', '3000000', '48750'],
  ['Rp 500,000 as a bound', atRate(rupiah, 'up'), '500000', undefined, '30769230', '500000'],
  ['Rp 500,000 for a bank', forBank({ ...rupiah, reason: 'market_open' }), '500000', '90000000', '30769231', '500000'],
  ['Rp 500,000 for a bank with a fee', forBank(charged), '500000', '90000000', '31188800', '500000'],
  ['what a bank gets for a balance', forBank(charged), '482676', '30120000', '30120000', '482676'],
])('%s stands for AUSD and reads the same again', (_, conversion, minor, max, micro, again) => {
  const stands = microFor(minor, conversion, max)
  expect([stands, conversion.toLocal(stands)]).toEqual([micro, again])
})

const micros = fc.bigInt({ min: 1n, max: 10n ** 15n }).map(String)
const minors = fc.bigInt({ min: 1n, max: 10n ** 12n }).map(String)
const rates = fc.bigInt({ min: 100n, max: 10n ** 6n }).map(String)
const fees = fc.record({ fixed: fc.nat(100_000).map(String), bps: fc.nat(1_000) })
const reason = 'market_open'
const conversions = fc.oneof(
  fc.tuple(rates, fc.constantFrom('down', 'up')).map(([rate, rounding]) => atRate({ pair: 'USD/IDR', rate }, rounding)),
  fc.tuple(rates, fees).map(([rate, cashoutFee]) => forBank({ pair: 'USD/IDR', rate, reason, cashoutFee })),
)

test('an amount of up to what the maximum is worth never stands for more than the maximum', () => {
  fc.assert(
    fc.property(conversions, micros, fc.bigInt({ min: 0n, max: 100n }), (conversion, max, less) => {
      const minor = BigInt(conversion.toLocal(max)) - less
      if (minor < 1n) return
      expect(BigInt(microFor(String(minor), conversion, max)) <= BigInt(max)).toBe(true)
    }),
  )
})

test('a typed amount reads the same after it was converted', () => {
  fc.assert(
    fc.property(conversions, minors, (conversion, minor) => {
      expect(conversion.toLocal(conversion.toAusd(minor))).toBe(minor)
    }),
  )
})

test('a bank never gets less than was typed, and a micro-AUSD less would bring less', () => {
  fc.assert(
    fc.property(rates, fees, minors, (rate, cashoutFee, minor) => {
      const price = { pair: 'USD/IDR', rate, reason, cashoutFee } as const
      const micro = BigInt(forBank(price).toAusd(minor))
      expect(BigInt(cashoutFor(String(micro), price).fiat) >= BigInt(minor)).toBe(true)
      expect(BigInt(cashoutFor(String(micro - 1n), price).fiat) < BigInt(minor)).toBe(true)
    }),
  )
})
