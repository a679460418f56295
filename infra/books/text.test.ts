import { expect, test } from 'bun:test'
import { ageText, amountText } from './text'

test.each([
  [1n, 'AUSD', '0.000001'],
  [-1_500_000n, 'AUSD', '-1.500000'],
  [1_234_567_890_000n, 'AUSD', '1,234,567.890000'],
  [48_750n, 'IDR', '48,750'],
  [999n, 'IDR', '999'],
  [500n, 'MYR', '5.00'],
  [999_499_439_763_122_351_978n, 'MON', '999.499439763122351978'],
])('%p of the smallest unit of %s are %s', (amount, asset, text) => {
  expect(amountText(amount, asset)).toBe(text)
})

test.each([
  [119_999, '119 s'],
  [120_000, '2 min'],
  [7_200_000, '2 h'],
  [259_200_000, '3 d'],
])('%p ms are %s', (ms, text) => {
  expect(ageText(ms)).toBe(text)
})
