import { describe, expect, test } from 'bun:test'
import { activityStatuses } from '#shared/messages/activity'
import {
  cashoutStates,
  inFlightStates,
  lifecycle,
  type ShownState,
  takeReasonFrom,
  wordsFor,
} from './cashout'

const isShown = (state: string): state is ShownState => state !== 'opening' && state !== 'expired'

describe('the lifecycle of a cash-out', () => {
  test('ends where nothing is owed any more, and nowhere else', () => {
    const ends = cashoutStates.filter((state) => lifecycle[state].length === 0)
    expect(ends).toEqual(['returned'])
  })
  test('gives AUSD back after it was taken for the bank, too late for it, or unasked', () => {
    expect(cashoutStates.filter((state) => lifecycle[state].includes('returning'))).toEqual([
      'opening',
      'expired',
      'paying',
      'paid',
      'failed',
    ])
  })
  test('never pays one that failed or was not accepted', () => {
    for (const state of ['failed', 'expired'] as const)
      expect(lifecycle[state]).toEqual(['returning'])
  })
})

test.each([
  ['authorization_used_elsewhere', 'authorization_used'],
  ['balance_too_low', 'balance_too_low'],
  ['toString', 'take_failed'],
])('the relayer says %s of a take: %s', (word, reason) => {
  expect(takeReasonFrom(word)).toBe(reason as never)
})

describe('what a user is told', () => {
  test.each(cashoutStates.filter(isShown).map((state) => [state]))('of one that is %s', (state) => {
    const waits = inFlightStates.includes(state)
    expect(wordsFor({ state, reason: null })).toMatchObject({ nextAction: waits ? 'wait' : null })
    const { sentence } = wordsFor({ state, reason: 'bank_refused' })
    expect(sentence).toMatch(/^The bank did not accept the transfer\. [A-Z].*\.$/)
  })
  test('has a closed word for each state that is shown', () => {
    expect([...activityStatuses.cashout]).toEqual(cashoutStates.filter(isShown))
  })
})
