import { describe, expect, test } from 'bun:test'
import { type PayoutStatus, payoutStatusFrom } from '#shared/provider/payout'
import type { CashoutState } from './cashout'
import {
  answerAgeMaxMs,
  believeRefusal,
  type CashoutFacts,
  conclusiveAfterMs,
  mayArriveLate,
  receivePayoutStatus,
  receiveTaken,
} from './decide'
import type { Evidence } from './provider'
import { reasonFrom } from './providers/xendit/mapping'

const id = '7f9c24e8-3b1a-8d52-9e0f-1c2d3e4f5a6b'
const facts = (state: CashoutState, lastStatus: PayoutStatus | null = 'pending'): CashoutFacts => ({
  id,
  state,
  fiatMinor: 81_250n,
  providerPayoutId: 'disb-1',
  lastStatus,
  sinceMs: 0,
})
const evidence = (word: string, change: Partial<Evidence> = {}): Evidence => ({
  payoutId: 'disb-1',
  referenceId: id,
  status: payoutStatusFrom(word),
  word,
  failureCode: null,
  reason: reasonFrom(word, change.failureCode ?? null),
  amountMinor: 81_250n,
  currency: 'IDR',
  ...change,
})

describe('the decision on AUSD in the treasury', () => {
  test.each([
    ['taking', { next: 'taken' }],
    ['failed', { next: 'returning', reason: 'taken_late' }],
    ['taken', { stay: true }],
    ['paying', { stay: true }],
    ['paid', { stay: true }],
    ['returning', { stay: true }],
    ['returned', { stay: true }],
  ] as const)('in the state %s: %p', (state, step) => {
    expect(receiveTaken(state)).toEqual(step as never)
  })

  test.each([
    ['balance_too_low', true],
    ['take_failed', true],
    ['authorization_expired', false],
    ['authorization_used', false],
  ] as const)('may still follow a take that failed with %s: %p', (reason, late) => {
    expect(mayArriveLate(reason)).toBe(late)
  })
})

const stay = { stay: true }
const back = { next: 'returning' }
const words = ['ACCEPTED', 'SUCCEEDED', 'FAILED', 'REVERSED', 'A_NEW_WORD'] as const
const table: [CashoutState, ...object[]][] = [
  ['taking', ...words.map(() => ({ odd: 'payout_unexpected' }))],
  ['taken', ...words.map(() => ({ odd: 'payout_unexpected' }))],
  ['failed', ...words.map(() => ({ odd: 'payout_unexpected' }))],
  ['paying', stay, { next: 'paid' }, back, back, { odd: 'status_unknown' }],
  ['paid', stay, stay, { odd: 'payout_differs' }, back, { odd: 'status_unknown' }],
  ['returning', stay, { odd: 'paid_and_returned' }, stay, stay, { odd: 'status_unknown' }],
  ['returned', stay, { odd: 'paid_and_returned' }, stay, stay, { odd: 'status_unknown' }],
]

describe('the decision on a payout status', () => {
  const rows = table.flatMap(([state, ...steps]) => steps.map((step, n) => [state, words[n]!, step] as const))
  // guard: an unknown status is no success
  test.each(rows)('in the state %s: %s means %p', (state, word, step) => {
    expect(receivePayoutStatus(facts(state), evidence(word))).toMatchObject(step)
  })

  // guard: a paid cash-out whose payout reads as failed is returned only if the list says so too
  test('of a failure after the payment returns the AUSD if the list has it too', () => {
    const failed = evidence('FAILED')
    expect(receivePayoutStatus(facts('paid'), failed)).toEqual({ odd: 'payout_differs' })
    const step = receivePayoutStatus(facts('paid'), { ...failed, isListedAsFailed: true })
    expect(step).toEqual({ next: 'returning', reason: 'bank_reversed' })
  })

  test.each(['REQUESTED', 'LOCKED', 'PENDING_COMPLIANCE_ASSESSMENT'])('waits after %s', (word) => {
    expect(receivePayoutStatus(facts('paying'), evidence(word))).toEqual({ stay: true })
  })
  test.each([
    ['CANCELLED', null, 'cancelled'],
    ['EXPIRED', null, 'cancelled'],
    ['COMPLIANCE_REJECTED', null, 'compliance'],
    ['FAILED', 'ACCOUNT_NAME_MISMATCH', 'name_differs'],
    ['FAILED', 'DESTINATION_MAXIMUM_LIMIT', 'account_limit'],
    ['FAILED', 'INSUFFICIENT_BALANCE', 'provider_refused'],
    ['FAILED', 'A_NEW_CODE', 'bank_refused'],
    ['FAILED', 'constructor', 'bank_refused'],
  ])('%s %s: returns the AUSD because of %s', (word, failureCode, reason) => {
    const step = receivePayoutStatus(facts('paying'), evidence(word, { failureCode }))
    expect(step).toEqual({ next: 'returning', reason: reason as never })
  })
  test.each(['constructor', '__proto__', 'succeeded', ''])('%p is unknown', (word) => {
    expect(payoutStatusFrom(word)).toBe('unknown')
  })

  test('of a success changes nothing about a reversed payout until it is too late to be outdated', () => {
    const reversed = facts('returning', 'reversed')
    const step = (sinceMs: number) => receivePayoutStatus({ ...reversed, sinceMs }, evidence('SUCCEEDED'))
    expect(step(answerAgeMaxMs - 1)).toEqual({ stay: true })
    expect(step(answerAgeMaxMs)).toEqual({ odd: 'paid_and_returned' })
  })
  test('for an existing payout after its refusal raises an alert', () => {
    const refused = { ...facts('returning', null), providerPayoutId: null }
    const step = receivePayoutStatus(refused, evidence('ACCEPTED'))
    expect(step).toEqual({ odd: 'paid_and_returned' })
  })
  test.each([
    // guard: a second payout of a cash-out is no success
    ['a second payout', { payoutId: 'disb-2' }, 'paid_twice'],
    // guard: a payout with another amount is no success
    ['another amount', { amountMinor: 81_251n }, 'payout_differs'],
    ['an unreadable amount', { amountMinor: undefined }, 'payout_differs'],
    ['another currency', { currency: 'MYR' }, 'payout_differs'],
  ] as const)('for %s is never a success', (_, change, odd) => {
    const step = receivePayoutStatus(facts('paying'), evidence('SUCCEEDED', change))
    expect(step).toEqual({ odd })
  })

  test.each([
    ['paying', 'FAILED', { next: 'returning', reason: 'bank_refused' }],
    ['paying', 'REVERSED', { next: 'returning', reason: 'bank_reversed' }],
    ['paying', 'ACCEPTED', { odd: 'payout_differs' }],
    ['failed', 'FAILED', { odd: 'payout_unexpected' }],
    ['returning', 'REVERSED', { stay: true }],
    // It was paid with its amount, so that an answer about another one proves nothing.
    ['paid', 'REVERSED', { odd: 'payout_differs' }],
  ] as const)(
    'for another amount, or none, matters unless the payout has failed: %s, %s means %p',
    (state, word, step) => {
      for (const amountMinor of [81_251n, undefined])
        expect(receivePayoutStatus(facts(state), evidence(word, { amountMinor }))).toEqual(step as never)
    },
  )

  test('for another amount ends nothing if it is of a payout that is not known, which may be a stranger', () => {
    for (const providerPayoutId of [null, 'disb-2']) {
      const known = { ...facts('paying'), providerPayoutId, lastStatus: null }
      const step = receivePayoutStatus(known, evidence('FAILED', { amountMinor: 81_251n }))
      expect(step).toEqual({ odd: 'payout_differs' })
    }
  })
})

describe('the refusal of an order is believed', () => {
  const clear = {
    meaning: 'channel_unavailable',
    found: 0,
    attempts: 1,
    sincePreviousMs: Infinity,
  } as const
  // guard: only a refusal of this very order counts
  test.each([
    ['of the first attempt, when nothing is found', {}, true],
    ['that the account number is wrong', { meaning: 'destination_wrong' }, true],
    ...['conflict', 'account_misconfigured', 'not_found', 'state_wrong', 'try_later', 'unknown'].map(
      (meaning) => [`never by a word that means ${meaning}`, { meaning }, false] as const,
    ),
    ['when a payout is found', { found: 1 }, false],
    // guard: a refusal proves nothing right after an attempt of unknown outcome
    ['soon after an unclear attempt', { attempts: 2, sincePreviousMs: conclusiveAfterMs - 1 }, false],
    ['long after it', { attempts: 2, sincePreviousMs: conclusiveAfterMs }, true],
  ])('%s: %p', (_, change, believed) => {
    expect(believeRefusal({ ...clear, ...(change as object) })).toBe(believed)
  })
})
