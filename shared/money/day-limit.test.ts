import { expect, test } from 'bun:test'
import { dayLimit } from './day-limit'

const resetsAt = '2026-11-21T17:00:00.000Z'

test.each([
  [0n, '100'],
  [99n, '1'],
  [100n, '0'],
  [101n, '0'],
])('a limit of 100 a day with %p used has %p left until the end of the day', (used, left) => {
  expect(dayLimit(100n, used, Date.parse(resetsAt))).toEqual({ day: '100', left, resetsAt })
})
