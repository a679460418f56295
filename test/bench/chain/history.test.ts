import { describe, expect, test } from 'bun:test'
import { createPublicClient, http } from 'viem'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { viemLoop } from '../backfill/viem-loop'
import { benchDir } from '../bench-dir'
import { type BenchChain, fillChain } from './fill'
import { actsOf } from './history'

const wallets = Array.from({ length: 64 }, (_, index) => index)
async function outcomesOf({ rpcUrl, deployment }: BenchChain) {
  const words = ['Qualified', 'Short', 'Late', 'Defaulted', 'Reversed']
  const logs = await readerOf(rpcUrl).getContractEvents({
    address: deployment.creditLine,
    abi: creditLineAbi,
    eventName: 'CycleClosed',
    fromBlock: 0n,
    strict: true,
  })
  const found = new Set(logs.map(({ args }) => args.outcome))
  return words.filter((_, outcome) => found.has(outcome))
}
const headSeconds = async ({ rpcUrl }: BenchChain) => Number((await readerOf(rpcUrl).getBlock()).timestamp)
const readerOf = (rpcUrl: string) => createPublicClient({ transport: http(rpcUrl) })

const visits = Array.from({ length: 24 }, (_, index) => index)

describe('the planned history', () => {
  test('has every kind of act', () => {
    const kinds = wallets.flatMap((wallet) => visits.flatMap((visit) => actsOf(wallet, visit).map(({ kind }) => kind)))
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

  test('emits exactly the planned events, with every outcome, from the real contract', async () => {
    using dir = benchDir()
    const chain = await fillChain(dir.path, 6_000)
    try {
      expect((await viemLoop(chain)).events).toBe(chain.events)
      expect(chain.events).toBeGreaterThanOrEqual(6_000)
      expect(await outcomesOf(chain)).toEqual(['Qualified', 'Short', 'Late', 'Defaulted'])
      expect(Date.now() / 1_000 - (await headSeconds(chain))).toBeLessThan(60)
    } finally {
      await chain.child.end()
    }
  })
})
