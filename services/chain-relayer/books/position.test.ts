import { describe, expect, test } from 'bun:test'
import { unbalanced } from '#shared/ledger/position'
import { type TransactionOutcome, transactionOutcomes } from '../lanes/lane.store'
import { eventOf, positionOf } from './position'

const paidWei = 9_180_000_000_000_000n
const valueWei = 50_000_000_000_000_000n
const outcomes = (values: readonly bigint[]) =>
  transactionOutcomes.flatMap((outcome) => values.map((valueWei) => [outcome, valueWei] as const))

/** Where the value of a transaction goes, or why it goes nowhere. */
const places: Readonly<Record<TransactionOutcome, 'drips' | 'suspense' | { stays: string }>> = {
  ok: 'drips',
  foreign: 'suspense',
  reverted: { stays: 'a call that reverted moves no value' },
  noop: { stays: 'what was mined in its place sends nothing' },
}

describe('every transaction of a lane that is final has an entry', () => {
  test.each(outcomes([0n, valueWei]))('%s, with %p wei to send', (outcome, valueWei) => {
    const place = places[outcome]
    const lines = positionOf({ outcome, paidWei, valueWei })
    const moved = typeof place === 'string' ? valueWei : 0n
    expect(unbalanced(lines)).toEqual([])
    expect(lines.find(({ account }) => account === 'lanes')?.amount).toBe(-paidWei - moved)
    expect(lines.find(({ account }) => account === 'gas')?.amount).toBe(paidWei)
    const others = lines.filter(({ account }) => account !== 'lanes' && account !== 'gas')
    expect(others).toEqual(
      moved === 0n ? [] : [{ account: place as 'drips', asset: 'MON', amount: moved }],
    )
  })

  test.each([
    ['ok', 'op', ['drip'], 'drip'],
    ['ok', 'batch', ['credit', 'credit', 'repay'], '2 credit, 1 repay'],
    ['reverted', 'op', ['take'], 'take, reverted'],
    ['noop', 'op', ['send'], 'send, gave way to a noop'],
    ['foreign', 'op', ['credit'], 'credit, its nonce taken by somebody else'],
  ] as const)('in words: %s, %s of %o', (outcome, _, kinds, words) => {
    expect(eventOf(outcome, kinds)).toBe(words)
  })
})
