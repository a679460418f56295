import { describe, expect, test } from 'bun:test'
import { openLog } from '#platform/log'
import { type Limits, watchOverdue } from '#platform/metrics/state-limits'
import { waitUntil } from '#test/support/wait'
import { limitsOf, lifecycle as operation } from '../../../services/chain-relayer/operations/operation'
import { limits as paymentLimits, settlementLifecycle, topupLifecycle } from '../../../services/payments/payment'
import { lifecycle as cashout, limits as cashoutLimits } from '../../../services/payouts/cashout'
import { limitedStates, stateLimits } from './state-limits'

type Case = [string, Record<string, readonly string[]>, Limits<string>]
const lifecycles: Case[] = [
  ['payments', { ...topupLifecycle, ...settlementLifecycle }, paymentLimits],
  ['payouts', cashout, cashoutLimits],
  ['chain-relayer', operation, limitsOf(300_000)],
]

describe.each(lifecycles)('limits of %s', (_, lifecycle, limits) => {
  test('every state of the lifecycle has a limit or a reason for having none', () => {
    expect(Object.keys(limits).sort()).toEqual(Object.keys(lifecycle).sort())
  })

  test('a state has a time limit only if another state can follow it', () => {
    for (const [state, next] of Object.entries(lifecycle)) {
      const limit = limits[state]!
      if ('rests' in limit) expect(limit.rests).not.toBe('')
      else expect([state, next.length > 0, limit.afterMs > 0]).toEqual([state, true, true])
    }
  })
})

test('every limited state has steps', () => {
  expect(limitedStates.length).toBeGreaterThan(15)
  expect(limitedStates.filter(({ steps }) => !/\w/.test(steps))).toEqual([])
})

test('states of a service with the same alarm have the same limit and steps', () => {
  const byAlarm = Map.groupBy(limitedStates, ({ service, alarm }) => `${service}: ${alarm}`)
  for (const [alarm, same] of byAlarm)
    expect([alarm, new Set(same.map(({ afterMs, steps }) => `${afterMs} ${steps}`)).size]).toEqual([alarm, 1])
})

/** chain-relayer raises the alarm of its only limit itself. */
const watched = Object.values(stateLimits).filter(({ service }) => service !== 'chain-relayer')

test.each(watched)(
  'each state of $service beyond its limit raises the alarm of its row',
  async ({ service, limits }) => {
    const own = limitedStates.filter((one) => one.service === service)
    const raised: string[] = []
    const write = (line: string) => {
      const { alarm, msg, state } = JSON.parse(line)
      if (alarm) raised.push(`${state}: ${msg}`)
    }
    const oldest = own.map(({ state, afterMs }) => ({ state, count: 1, oldestMs: afterMs + 1, id: `a ${state} one` }))
    const read = async () => oldest
    await using _watch = watchOverdue({ log: openLog(service, 'error', { write }), clock: Date.now, limits, read })
    await waitUntil('every alarm', () => raised.length >= own.length)
    expect(raised.toSorted()).toEqual(own.map(({ state, alarm }) => `${state}: ${alarm}`).toSorted())
  },
)
