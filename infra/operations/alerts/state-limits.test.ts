import { describe, expect, test } from 'bun:test'
import type { Limits } from '#platform/metrics/state-limits'
import { limitsOf, lifecycle as operation } from '../../../services/chain-relayer/operations/operation'
import { limits as paymentLimits, settlementLifecycle, topupLifecycle } from '../../../services/payments/payment'
import { lifecycle as cashout, limits as cashoutLimits } from '../../../services/payouts/cashout'
import { limitedStates } from './state-limits'

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
