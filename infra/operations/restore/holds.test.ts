import { expect, test } from 'bun:test'
import type { CashoutState } from '../../../services/payouts/cashout'
import { findHolds } from './holds'

const stored = '0f9c24e8-3b1a-8d52-9e0f-1c2d3e4f5a6b'
const restored = '1f9c24e8-3b1a-8d52-9e0f-1c2d3e4f5a6b'

const found = (state: CashoutState, hold: string[], returns: string[] = []) =>
  findHolds(hold, {
    known: { cashoutStates: new Map([[stored, state]]) },
    payouts: { rows: [{ id: restored, state: 'returning' }] },
    returned: { returns },
  })

test.each([
  ['opening', `cash-out ${stored}: opening, will be held`],
  ['taken', `cash-out ${stored}: taken, will be held`],
  ['returned', `cash-out ${stored}: returned, needs no hold`],
] as const)('a restore lists what becomes of a cash-out to hold that is %s', (state, line) => {
  expect(found(state, [stored])).toEqual({ lines: [line], undecided: [] })
})

test('a restore lists no hold of a cash-out that is returned', () => {
  const lines = [`cash-out ${restored}: returning, needs no hold`, `cash-out ${stored}: returning, needs no hold`]
  expect(found('taken', [restored, stored], [stored])).toEqual({ lines, undecided: [] })
})

test.each(['paying', 'paid'] as const)('a restore leaves a cash-out to hold that is %s to its operator', (state) => {
  const { lines, undecided } = found(state, [stored])
  expect(lines).toEqual([])
  expect(undecided).toEqual([
    `cash-out ${stored}: ${state}, cannot be held; ask the provider to cancel or recall its payout`,
  ])
})

test.each([stored.toUpperCase(), stored.slice(1), `${stored} `, restored.replace('1f', '2f')])(
  'a restore refuses to hold %p, which no cash-out has as its id',
  (id) => {
    expect(() => found('taken', [stored, id])).toThrow(`--hold ${id}: there is no such cash-out; nothing was changed`)
  },
)
