import { describe, expect, test } from 'bun:test'
import { withWaits } from './waits'

const at = (second: number) => new Date(Date.UTC(2026, 10, 22, 12, 0, 0) + second * 1000)
const entry = (second: number | null, where: string, what: string) => ({
  at: second === null ? null : at(second),
  where,
  what,
  says: `${where} ${what}`,
})
const payment = (state: string) => ({ kind: 'topup', id: 'pay_1', state })
const told = (lines: ReturnType<typeof withWaits>) =>
  lines.map((line) =>
    'wait' in line ? `${line.wait.ms} ms${line.wait.to ? '' : ' and on'}: ${line.wait.reason}` : line.entry.says,
  )

describe('the history of an item', () => {
  test('the history of an item shows the wait between two entries and its reason', () => {
    const entries = [
      entry(0, 'payments', 'row'),
      entry(5, 'provider', 'delivery'),
      entry(5.1, 'chain-relayer', 'order'),
      entry(7, 'chain', 'final'),
    ]
    expect(told(withWaits({ items: [payment('credited')], entries }, at(60)))).toEqual([
      'payments row',
      "5000 ms: the payer or the provider's webhook",
      'provider delivery',
      'chain-relayer order',
      '1900 ms: the transaction to become final',
      'chain final',
    ])
  })

  test('the history of an item shows that a cash-out waits for its bank, where a payment waits for its payer', () => {
    const entries = [entry(0, 'payouts', 'call'), entry(2, 'provider', 'delivery')]
    const items = [{ kind: 'cashout', id: 'x', state: 'paid' }]
    expect(told(withWaits({ items, entries }, at(9)))[1]).toBe("2000 ms: the bank and the provider's webhook")
  })

  test.each([
    ['awaiting_payment', 'topup', 'the payer'],
    ['held', 'topup', 'the hold to end'],
    ['review', 'settlement', 'manual review'],
    ['paying', 'cashout', 'the bank'],
    ['paid', 'topup', 'the chain'],
  ])('the history of an item shows that the state %s of a %s waits for %s', (state, kind, reason) => {
    const items = [{ kind, id: 'x', state }]
    const lines = withWaits({ items, entries: [entry(0, 'payments', 'row')] }, at(9))
    expect(told(lines)[1]).toStartWith('9000 ms and on: ')
    expect(told(lines)[1]).toContain(reason)
  })

  test.each([
    ['credited', 'topup'],
    ['paid', 'cashout'],
    ['a state that is new', 'topup'],
  ])('the history of an item shows no wait for the final state %s of a %s', (state, kind) => {
    const items = [{ kind, id: 'x', state }]
    expect(withWaits({ items, entries: [entry(0, 'payments', 'row')] }, at(9))).toHaveLength(1)
  })

  test('the history of an item keeps entries without a time last, after the current wait', () => {
    const entries = [entry(0, 'payments', 'row'), entry(null, 'provider', 'checkout')]
    const lines = told(withWaits({ items: [payment('held')], entries }, at(9)))
    expect(lines[0]).toBe('payments row')
    expect(lines[2]).toBe('provider checkout')
  })

  test('the history of an item is empty for an item without entries', () => {
    expect(withWaits({ items: [payment('held')], entries: [] }, at(9))).toEqual([])
  })
})
