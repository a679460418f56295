import { describe, expect, test } from 'bun:test'
import { difference, unbalanced } from '#shared/ledger/position'
import { type CashoutState, lifecycle } from '../cashout'
import { positionOf } from './position'

const row = (state: CashoutState) => ({ state, ausdMicro: 100_000_000n, fiatMinor: 1_625_000n })

/** Steps that move no money, and why. */
const silent: Readonly<Record<string, string>> = {
  'taking → failed': 'nothing was taken',
  'taken → paying': 'it is owed before the provider is asked, and while',
}

const edges = Object.entries<readonly CashoutState[]>(lifecycle).flatMap(([from, next]) =>
  next.map((to) => [from as CashoutState, to] as const),
)

describe('every step of a cash-out has an entry, or a reason for none', () => {
  test.each(edges)('%s → %s', (from, to) => {
    const lines = difference(positionOf(row(from)), positionOf(row(to)))
    expect(unbalanced(lines)).toEqual([])
    if (`${from} → ${to}` in silent) expect(lines).toEqual([])
    else expect(lines).not.toEqual([])
  })

  test('and no reason is told of a step that there is not', () => {
    const there = new Set(edges.map(([from, to]) => `${from} → ${to}`))
    expect(Object.keys(silent).filter((step) => !there.has(step))).toEqual([])
  })

  test('what came back to its wallet leaves nothing in the books', () => {
    expect(positionOf(row('returned'))).toEqual([])
  })
})
