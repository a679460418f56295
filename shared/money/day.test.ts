import { expect, test } from 'bun:test'
import { dayEndMs, dayStartMs } from './day'

test.each([
  ['USD/IDR', '2026-11-21T16:59:59.999Z', '2026-11-20T17:00:00.000Z'],
  ['USD/IDR', '2026-11-21T17:00:00.000Z', '2026-11-21T17:00:00.000Z'],
  ['USD/IDR', '2026-11-21T07:00:00.000Z', '2026-11-20T17:00:00.000Z'],
  ['USD/MYR', '2026-11-21T15:59:59.999Z', '2026-11-20T16:00:00.000Z'],
  ['USD/MYR', '2026-11-21T16:00:00.000Z', '2026-11-21T16:00:00.000Z'],
  ['USD/MYR', '2026-12-31T23:00:00.000Z', '2026-12-31T16:00:00.000Z'],
] as const)('the day of a limit on %s at %s began at %s, midnight in its country', (pair, now, start) => {
  const startMs = dayStartMs(pair, Date.parse(now))
  expect(new Date(startMs).toISOString()).toBe(start)
  expect(dayEndMs(pair, Date.parse(now)) - startMs).toBe(86_400_000)
})
