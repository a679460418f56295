import { describe, expect, test } from 'bun:test'
import { viemLoop } from '../backfill/viem-loop.ts'
import { benchDir } from '../bench-dir.ts'
import { fillChain } from './fill.ts'
import { actsOf } from './history.ts'

const wallets = Array.from({ length: 64 }, (_, index) => index)
const visits = Array.from({ length: 24 }, (_, index) => index)

describe('the planned history', () => {
  test('has every act there is', () => {
    const kinds = wallets.flatMap((wallet) =>
      visits.flatMap((visit) => actsOf(wallet, visit).map(({ kind }) => kind)),
    )
    expect([...new Set(kinds)].sort()).toEqual([
      'draw',
      'heldTopUp',
      'markDefault',
      'repayFor',
      'repayFromCollateral',
      'revoke',
      'topUp',
      'verify',
      'withdraw',
    ])
  })

  test('emits exactly the events it says, by the real contract on a real chain', async () => {
    using dir = benchDir()
    const chain = await fillChain(dir.path, 6_000)
    try {
      expect((await viemLoop(chain)).events).toBe(chain.events)
      expect(chain.events).toBeGreaterThanOrEqual(6_000)
    } finally {
      await chain.child.end()
    }
  }, 60_000)
})
