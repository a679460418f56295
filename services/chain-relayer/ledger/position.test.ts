import { describe, expect, test } from 'bun:test'
import { unbalanced } from '#shared/ledger/position'
import { type TransactionOutcome, transactionOutcomes } from '../lanes/lane.store'
import { guards, type OperationKind, type Task } from '../operations/operation'
import { eventOf, positionOf, positionOfDone } from './position'

const paidWei = 9_180_000_000_000_000n
const valueWei = 50_000_000_000_000_000n
const outcomes = (values: readonly bigint[]) =>
  transactionOutcomes.flatMap((outcome) => values.map((valueWei) => [outcome, valueWei] as const))

const places: Readonly<Record<TransactionOutcome, 'drips' | 'suspense' | { stays: string }>> = {
  ok: 'drips',
  foreign: 'suspense',
  reverted: { stays: 'a call that reverted moves no value' },
  noop: { stays: 'the transaction mined in its place moves no value' },
}

describe('every final transaction of a lane has a journal entry:', () => {
  test.each(outcomes([0n, valueWei]))('%s, with %p wei to send', (outcome, valueWei) => {
    const place = places[outcome]
    const lines = positionOf({ outcome, paidWei, valueWei })
    const moved = typeof place === 'string' ? valueWei : 0n
    expect(unbalanced(lines)).toEqual([])
    expect(lines.find(({ account }) => account === 'lanes')?.amount).toBe(-paidWei - moved)
    expect(lines.find(({ account }) => account === 'gas')?.amount).toBe(paidWei)
    const others = lines.filter(({ account }) => account !== 'lanes' && account !== 'gas')
    expect(others).toEqual(moved === 0n ? [] : [{ account: place as 'drips', asset: 'MON', amount: moved }])
  })

  test.each([
    ['ok', 'op', ['drip'], 'drip'],
    ['ok', 'batch', ['credit', 'credit', 'repay'], '2 credit, 1 repay'],
    ['reverted', 'op', ['take'], 'take, reverted'],
    ['noop', 'op', ['send'], 'send, replaced by a noop'],
    ['foreign', 'op', ['credit'], 'credit, nonce used by another sender'],
  ] as const)('a transaction that is %s, a %s of %o, is described in words', (outcome, _, kinds, words) => {
    expect(eventOf(outcome, kinds)).toBe(words)
  })
})

const wallet = `0x${'ab'.repeat(20)}` as const
const giveback: Task = {
  kind: 'giveback',
  payload: { txHash: `0x${'12'.repeat(32)}`, logIndex: 3, wallet, ausd: '5000000', nonce: null },
}

/** For each other kind, the service that books it or the reason for having no entry. */
const elsewhere: Readonly<Record<Exclude<OperationKind, 'giveback'>, string>> = {
  credit: 'payments, with the payment',
  repay: 'payments, with the payment',
  revoke: 'payments, with the payment',
  take: 'payouts, with the cash-out',
  return: 'payouts, with the cash-out',
  send: 'AUSD of one wallet goes to another: none of it is ours',
  drip: 'native coin: in the entry of its transaction',
  extend: 'moves nothing',
  verify: 'moves nothing',
  freeze: 'moves nothing',
  autorepay: 'AUSD or collateral of one wallet repays its debt: none of it is ours',
}

describe('the journal of AUSD moved by an operation', () => {
  test('keeps unsolicited AUSD in suspense until its return', () => {
    expect(positionOfDone(giveback)).toEqual([
      { account: 'suspense', asset: 'AUSD', amount: 5_000_000n },
      { account: 'treasury', asset: 'AUSD', amount: -5_000_000n },
    ])
  })

  test.each(Object.keys(guards).filter((kind) => kind !== 'giveback'))(
    'leaves a %s to another service, or it moved none of our AUSD',
    (kind) => {
      expect(elsewhere[kind as 'send']).not.toBeEmpty()
      expect(positionOfDone({ ...giveback, kind } as never)).toEqual([])
    },
  )
})
