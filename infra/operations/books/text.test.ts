import { expect, test } from 'bun:test'
import { ageText } from './text'

test.each([
  [119_999, '119 s'],
  [120_000, '2 min'],
  [7_200_000, '2 h'],
  [259_200_000, '3 d'],
])('durationText writes %p ms as %s', (ms, text) => {
  expect(ageText(ms)).toBe(text)
})
