import { describe, expect, test } from 'bun:test'
import { openRateLimit } from '#shared/provider/rate-limit'

/** Returns the calls that instances begin within their first minute, all of them as soon as possible. */
const inFirstMinute = (copies: number, endpoint: string, others?: string[]) =>
  Array.from({ length: copies }, () => {
    const share = { copies: () => copies, ...(others && { alsoCalledByOthers: others }) }
    const limit = openRateLimit(60, () => 0, share)
    const begins = Array.from({ length: 100 }, () => limit.reserve(endpoint, 600_000)!)
    return begins.filter((at) => at < 60_000).length
  }).reduce((sum, calls) => sum + calls, 0)

describe('the budget of an account', () => {
  test.each([1, 2, 3, 5])('is shared by %p instances', (copies) => {
    const calls = inFirstMinute(copies, 'POST /sessions')
    expect(calls).toBeLessThanOrEqual(60)
    expect(calls).toBeGreaterThan(50)
  })

  test('is halved if another service calls the same endpoint with the same key', () => {
    expect(inFirstMinute(1, 'GET /transactions', ['GET /transactions'])).toBeLessThanOrEqual(30)
    expect(inFirstMinute(1, 'POST /sessions', ['GET /transactions'])).toBeGreaterThan(50)
  })

  test('gives each instance one call a minute if there are more instances than calls', () => {
    const limit = openRateLimit(2, () => 0, { copies: () => 10 })
    expect(limit.reserve('GET /x', 0)).toBe(0)
    expect(limit.reserve('GET /x', 120_000)).toBe(60_000)
  })
})

describe('a new instance', () => {
  test('takes its share of the budget once the first instance has counted it', () => {
    const time = { now: 0, copies: 1 }
    const first = openRateLimit(60, () => time.now, { copies: () => time.copies })
    const inMinute = (limit: typeof first) => {
      let calls = 0
      for (const endsAt = time.now + 60_000; time.now < endsAt; time.now += 1_000)
        while (limit.reserve('GET /x', 0) !== null) calls++
      return calls
    }
    expect(inMinute(first)).toBeGreaterThan(50)
    time.copies = 2
    expect(inMinute(first)).toBeLessThanOrEqual(30)
    time.copies = 1
    expect(inMinute(first)).toBeGreaterThan(45)
  })
})

describe('a budget of 60 calls a minute', () => {
  const open = () => {
    const time = { now: 0 }
    return { time, limit: openRateLimit(60, () => time.now) }
  }

  test('allows ten calls at once and makes the eleventh wait', () => {
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

  test('reserves no place for a caller that cannot wait so long', () => {
    const { limit } = open()
    for (let call = 0; call < 10; call++) limit.reserve('GET /x', 0)
    expect(limit.reserve('GET /x', 1_000)).toBeNull()
    expect(limit.waitMs('GET /x')).toBe(1_200)
  })

  test('counts each endpoint separately', () => {
    const { limit } = open()
    limit.block('GET /x', 5_000)
    expect(limit.reserve('GET /y', 0)).toBe(0)
    expect(limit.reserve('GET /x', 60_000)).toBe(5_000)
  })

  test('opens again at the time named by the provider', () => {
    const { time, limit } = open()
    limit.block('GET /x', 5_000)
    time.now = 5_000
    expect(limit.reserve('GET /x', 0)).toBe(0)
  })
})
