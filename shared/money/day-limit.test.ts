import { expect, test } from 'bun:test'
import { dayLimit } from './day-limit'

test.each([
  [0n, '100', '2026-11-21T07:00:00.000Z', '2026-11-22T00:00:00.000Z'],
  [99n, '1', '2026-11-21T23:59:59.999Z', '2026-11-22T00:00:00.000Z'],
  [100n, '0', '2026-11-22T00:00:00.000Z', '2026-11-23T00:00:00.000Z'],
  [101n, '0', '2026-12-31T12:00:00.000Z', '2027-01-01T00:00:00.000Z'],
])('a limit of 100 a day with %p used has %p left at %s, until %s', (used, left, now, resetsAt) => {
  expect(dayLimit(100n, used, Date.parse(now))).toEqual({ day: '100', left, resetsAt })
})
