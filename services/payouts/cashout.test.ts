import { describe, expect, test } from 'bun:test'
import { activityStatuses } from '#shared/messages/activity'
import { cashoutStates, inFlightStates, lifecycle, type ShownState, takeReasonFrom, wordsFor } from './cashout'

const isShown = (state: string): state is ShownState => state !== 'opening' && state !== 'expired'

describe('the lifecycle of a cash-out', () => {
  test('ends only where nothing is owed', () => {
    const ends = cashoutStates.filter((state) => lifecycle[state].length === 0)
    expect(ends).toEqual(['returned'])
  })
  test('returns AUSD that was taken for the bank, too late for it, above its limit, without an order, or for a cash-out that was cancelled', () => {
    expect(cashoutStates.filter((state) => lifecycle[state].includes('returning'))).toEqual([
      'opening',
      'expired',
      'taking',
      'taken',
      'paying',
      'paid',
      'failed',
    ])
  })
  test('never pays after a failure or an expiry', () => {
    for (const state of ['failed', 'expired'] as const) expect(lifecycle[state]).toEqual(['returning'])
  })
})

test.each([
  ['authorization_used_elsewhere', 'authorization_used'],
  ['balance_too_low', 'balance_too_low'],
  ['toString', 'take_failed'],
])('the reason %s for a failed take is stored as %s', (word, reason) => {
  expect(takeReasonFrom(word)).toBe(reason as never)
})

describe('the message about a cash-out', () => {
  test.each(cashoutStates.filter(isShown).map((state) => [state]))('in the state %s has the next action', (state) => {
    const waits = inFlightStates.includes(state)
    expect(wordsFor({ state, reason: null })).toMatchObject({ nextAction: waits ? 'wait' : null })
    const { sentence } = wordsFor({ state, reason: 'bank_refused' })
    expect(sentence).toMatch(/^The bank did not accept the transfer\. [A-Z].*\.$/)
  })
  test('has a status for each state in the activity', () => {
    expect([...activityStatuses.cashout]).toEqual(cashoutStates.filter(isShown))
  })
})
