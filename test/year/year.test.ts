import { describe, expect, test } from 'bun:test'
import { pairs } from '#shared/money/pair'
import { holidays } from './market'
import { bestOfDays, closedHours, costUsd, deploymentGuards, type Outage, playYear, waits } from './year'

const outages: readonly (readonly Outage[])[] = [[], ['open-er-api'], ['indodax'], ['open-er-api', 'indodax']]
const cases = pairs.flatMap((pair) =>
  outages.map((without) => [pair, without.join(' and ') || 'nothing', without] as const),
)

test.each(cases)('in 2025, %s has a price for money that comes in at every hour, without %s', (pair, _, without) => {
  const hours = playYear(pair, without)
  expect(hours).toHaveLength(8_760)
  expect(closedHours(hours, 'payIn')).toEqual(new Map())
})

describe('in 2025, with all sources,', () => {
  const hours = playYear('USD/IDR')
  const stateOf = (time: string) => {
    const { verdict } = hours.find(({ atMs }) => atMs === Date.parse(time))!
    return 'state' in verdict ? verdict.state : verdict.unavailable
  }

  test('cash-outs in rupiah are quoted at all hours but those in which sources differ by more than 1 %', () => {
    const closed = closedHours(hours, 'payOut')
    expect([...closed.keys()]).toEqual(['sources_differ'])
    expect(closed.get('sources_differ')).toBeLessThan(200)
  })

  test.each([
    ['a Wednesday', '2025-03-26T04:00:00Z', 'market_open'],
    ['a Sunday', '2025-03-23T04:00:00Z', 'market_closed'],
    ['the second day of Lebaran', '2025-03-29T20:00:00Z', 'market_closed'],
    ['the hour before it reopens', '2025-04-08T03:00:00Z', 'sources_differ'],
    ['the hour after it reopens', '2025-04-08T04:00:00Z', 'market_open'],
  ])('the market on %s, %s, is %s', (_, time, state) => {
    expect(stateOf(time)).toBe(state)
  })

  test('waiting for Monday loses on the average day, in both directions', () => {
    for (const direction of ['payIn', 'payOut'] as const) {
      const days = bestOfDays(waits(hours, direction, 'closed'))
      expect(days.reduce((sum, { gainBps }) => sum + gainBps, 0) / days.length).toBeLessThan(-20)
    }
  })

  test('a limit of $20,000 a day bounds what an attacker gains who knows every reopening: less than $500 in the year', () => {
    expect(costUsd(bestOfDays(waits(hours, 'payOut', 'closed')), 20_000)).toBeLessThan(500)
  })
})

test('the deployment lists the public holidays of both countries', () => {
  const listed = deploymentGuards().holidays
  expect([...holidays['USD/IDR'], ...holidays['USD/MYR']].filter((day) => !listed.has(day))).toEqual([])
  expect(listed.size).toBe(39)
})
