import { expect, test } from 'bun:test'
import { languages } from '#shared/language/language'
import { amountText, fromPlainAmount, moneyText, plainAmount } from '#shared/money/text'

test.each([
  [1n, 'AUSD', '0.000001'],
  [-1_500_000n, 'AUSD', '-1.500000'],
  [1_234_567_890_000n, 'AUSD', '1,234,567.890000'],
  [48_750n, 'IDR', '48,750'],
  [999n, 'IDR', '999'],
  [500n, 'MYR', '5.00'],
  [999_499_439_763_122_351_978n, 'MON', '999.499439763122351978'],
])('%p smallest units of %s are written %s', (amount, asset, text) => {
  expect(amountText(amount, asset)).toBe(text)
})

test.each([
  [1_234_567_890_000n, 'AUSD', '1234567.890000'],
  [-1_234_567n, 'IDR', '-1234567'],
  [-123_456n, 'MYR', '-1234.56'],
  [0n, 'MYR', '0.00'],
])('%p smallest units of %s are written %s for programs that add them up', (amount, asset, text) => {
  expect(plainAmount(amount, asset)).toBe(text)
})

test.each([
  ['50000', 'IDR', 50_000n],
  ['50.000', 'IDR', undefined],
  ['50000.5', 'IDR', undefined],
  ['12.5', 'MYR', 1_250n],
  ['3.076923', 'AUSD', 3_076_923n],
  ['3.0769231', 'AUSD', undefined],
  ['-1', 'AUSD', undefined],
  ['50,000', 'IDR', undefined],
  ['1e5', 'IDR', undefined],
  ['', 'IDR', undefined],
] as const)('%p of %s is read as %p smallest units', (text, asset, amount) => {
  expect(fromPlainAmount(text, asset)).toBe(amount!)
})

test.each([
  ['10000', 'IDR', ['Rp 10,000', 'Rp 10.000', 'Rp 10,000']],
  ['500', 'MYR', ['RM 5.00', 'RM 5,00', 'RM 5.00']],
  ['1234567890000', 'AUSD', ['1,234,567.890000 AUSD', '1.234.567,890000 AUSD']],
])('%p smallest units of %s are written with the separators of each language', (amount, asset, said) => {
  const shown = languages.map((language) => moneyText(amount, asset, language))
  expect(shown.slice(0, said.length)).toEqual(said)
})

test.each([
  [48_750n, 'IDR', 'Rp 48,750'],
  ['500', 'MYR', 'RM 5.00'],
  ['3076923', 'AUSD', '3.076923 AUSD'],
  [-3_000_000n, 'AUSD', '-3.000000 AUSD'],
  [10n ** 15n, 'MON', '0.001000000000000000 MON'],
  ['70', 'XYZ', '70 XYZ'],
])('%p smallest units of %s are written %s with the currency', (amount, asset, text) => {
  expect(moneyText(amount, asset)).toBe(text)
})
