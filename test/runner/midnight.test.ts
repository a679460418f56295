import { expect, test } from 'bun:test'
import { untilDayLasts } from './midnight'

test.each([
  ['23:59:29.999', 0],
  ['23:59:30.000', 35_000],
  ['23:59:59.999', 5_001],
  ['00:00:00.000', 5_000],
  ['00:00:04.999', 1],
  ['00:00:05.000', 0],
  ['12:00:00.000', 0],
])('a test that is due at %s begins after %i ms, so that no day ends during it', (time, ms) => {
  expect(untilDayLasts(Date.parse(`2026-12-31T${time}Z`))).toBe(ms)
})
