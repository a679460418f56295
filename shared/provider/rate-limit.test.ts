import { describe, expect, test } from 'bun:test'
import { openRateLimit } from '#shared/provider/rate-limit'

describe('a budget of 60 calls a minute', () => {
  const open = () => {
    const time = { now: 0 }
    return { time, limit: openRateLimit(60, () => time.now) }
  }

  test('lets ten calls through at once and makes the eleventh wait', () => {
    const { limit } = open()
    const waits = Array.from({ length: 11 }, () => limit.reserve('GET /x', 60_000))
    expect(waits).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1_200])
  })

  test('never lets more than 60 calls begin within one minute', () => {
    const { limit } = open()
    const begins = Array.from({ length: 200 }, () => limit.reserve('GET /x', 600_000)!)
    for (const begin of begins) {
      const within = begins.filter((other) => other >= begin && other < begin + 60_000)
      expect(within.length).toBeLessThanOrEqual(60)
    }
  })

  test('takes no place for a caller who cannot wait so long', () => {
    const { limit } = open()
    for (let call = 0; call < 10; call++) limit.reserve('GET /x', 0)
    expect(limit.reserve('GET /x', 1_000)).toBeNull()
    expect(limit.waitMs('GET /x')).toBe(1_200)
  })

  test('counts each endpoint on its own', () => {
    const { limit } = open()
    limit.block('GET /x', 5_000)
    expect(limit.reserve('GET /y', 0)).toBe(0)
    expect(limit.reserve('GET /x', 60_000)).toBe(5_000)
  })

  test('opens again when the time the provider named has passed', () => {
    const { time, limit } = open()
    limit.block('GET /x', 5_000)
    time.now = 5_000
    expect(limit.reserve('GET /x', 0)).toBe(0)
  })
})
