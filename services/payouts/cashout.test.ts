import { describe, expect, test } from 'bun:test'
import { activityStatuses } from '#shared/messages/activity'
import { cashoutStates, inFlightStates, lifecycle, takeReasonFrom, wordsFor } from './cashout'

describe('the lifecycle of a cash-out', () => {
  test('ends where nothing is owed any more, and nowhere else', () => {
    const ends = cashoutStates.filter((state) => lifecycle[state].length === 0)
    expect(ends).toEqual(['returned'])
  })
  test('gives AUSD back after it was taken for the bank, or too late for it', () => {
    expect(cashoutStates.filter((state) => lifecycle[state].includes('returning'))).toEqual([
      'paying',
      'paid',
      'failed',
    ])
  })
  test('never pays what had failed', () => {
    expect(lifecycle.failed).toEqual(['returning'])
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
  test.each(cashoutStates.map((state) => [state]))('of one that is %s', (state) => {
    const waits = inFlightStates.includes(state)
    expect(wordsFor({ state, reason: null })).toMatchObject({ nextAction: waits ? 'wait' : null })
    const { sentence } = wordsFor({ state, reason: 'bank_refused' })
    expect(sentence).toMatch(/^The bank did not accept the transfer\. [A-Z].*\.$/)
  })
  test('has a closed word for each state', () => {
    expect(activityStatuses.cashout).toEqual([...cashoutStates])
  })
})
