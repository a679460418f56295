import { expect, test } from 'bun:test'
import { dayEndMs, dayName, dayStartMs, namedDayStartMs, zonedText } from './day'

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

test.each([
  ['USD/IDR', '2026-11-24', '2026-11-23T17:00:00.000Z'],
  ['USD/MYR', '2026-11-24', '2026-11-23T16:00:00.000Z'],
  ['USD/IDR', '2028-02-29', '2028-02-28T17:00:00.000Z'],
  ['USD/IDR', '2026-02-29', undefined],
  ['USD/IDR', '2026-02-30', undefined],
  ['USD/IDR', '2026-13-01', undefined],
  ['USD/IDR', '2026-11-24T00:00', undefined],
  ['USD/IDR', '24.11.2026', undefined],
  ['USD/IDR', '', undefined],
] as const)('the day of %s that is written %p begins at %p', (pair, day, start) => {
  const startMs = namedDayStartMs(pair, day)
  expect(startMs === undefined ? undefined : new Date(startMs).toISOString()).toBe(start!)
})

test.each([
  ['USD/IDR', '2026-11-23T16:59:59.999Z', '2026-11-23'],
  ['USD/IDR', '2026-11-23T17:00:00.000Z', '2026-11-24'],
  ['USD/MYR', '2026-11-23T16:00:00.000Z', '2026-11-24'],
] as const)('the day of %s at %s is written %s', (pair, at, day) => {
  expect(dayName(pair, Date.parse(at))).toBe(day)
})

test('a time is written in the zone of the country of the money, and can be read back', () => {
  const atMs = Date.parse('2026-11-23T17:00:00.250Z')
  expect(zonedText('USD/IDR', atMs)).toBe('2026-11-24T00:00:00.250+07:00')
  expect(zonedText('USD/MYR', atMs)).toBe('2026-11-24T01:00:00.250+08:00')
  expect(Date.parse(zonedText('USD/MYR', atMs))).toBe(atMs)
})
