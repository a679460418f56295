import { describe, expect, test } from 'bun:test'
import { nextCheckAt, type RecheckSchedule, retryAt, type Standing } from './schedule.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const schedule: RecheckSchedule = {
  openMs: hour,
  openForMs: 3 * day,
  everyMs: day,
  forMs: 30 * day,
}
const nowMs = Date.UTC(2026, 10, 21, 7)
const ago = (ms: number) => new Date(nowMs - ms)
const nobody: Standing = { state: undefined, decidedAt: null, linkedAt: null }

describe('the provider is asked again about', () => {
  test.each<[string, Partial<Standing>, number | null]>([
    ['a new link: hourly', { linkedAt: ago(0) }, hour],
    ['a link of two days: hourly', { linkedAt: ago(2 * day) }, hour],
    ['a link of three days: daily', { linkedAt: ago(3 * day) }, day],
    ['a link of 29 days: daily', { linkedAt: ago(29 * day) }, day],
    ['a link of 30 days: no more', { linkedAt: ago(30 * day) }, null],
    ['somebody who is to try again: hourly', { state: 'resubmit', decidedAt: ago(hour) }, hour],
    ['somebody reset: hourly', { state: 'reset', decidedAt: ago(hour) }, hour],
    ['somebody reset long ago: daily', { state: 'reset', decidedAt: ago(5 * day) }, day],
    ['somebody refused for good: daily', { state: 'rejected', decidedAt: ago(hour) }, day],
    [
      'somebody refused a month ago: no more',
      { state: 'rejected', decidedAt: ago(31 * day) },
      null,
    ],
    [
      'somebody refused, with a newer link: hourly',
      { state: 'rejected', decidedAt: ago(31 * day), linkedAt: ago(hour) },
      hour,
    ],
    [
      'somebody refused after the link: daily',
      { state: 'rejected', decidedAt: ago(hour), linkedAt: ago(day) },
      day,
    ],
    ['a verified person: daily', { state: 'verified', decidedAt: ago(hour) }, day],
    ['a person verified years ago: daily', { state: 'verified', decidedAt: ago(900 * day) }, day],
    ['somebody without link or verdict: no more', {}, null],
  ])('%s', (_, standing, restMs) => {
    const at = nextCheckAt({ ...nobody, ...standing }, schedule, nowMs)
    expect(at && at.getTime() - nowMs).toBe(restMs)
  })
})

describe('after a question without an answer', () => {
  test.each([
    [1, 2 * minute],
    [2, 4 * minute],
    [5, 32 * minute],
    [6, hour],
    [1_000, hour],
  ])('%d in a row, the next comes later, but never later than usual', (failures, restMs) => {
    expect(retryAt(failures, schedule, nowMs).getTime() - nowMs).toBe(restMs)
  })
})
