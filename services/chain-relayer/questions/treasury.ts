import type { Static } from 'typebox'
import { isRecent } from '#platform/clock'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import type { ChainTreasury } from '#shared/messages/chain'
import { multicall3, multicallAbi } from '../chain/multicall'
import type { Context } from '../context'
import { newestTreasurySpending, orderedMicro } from '../operations/treasury.store'
import { atMost } from '../transactions/transaction'

export type TreasuryAnswer = Static<(typeof ChainTreasury)['answer']>

const freshMs = 2_000

/**
 * Returns a reader of the treasury whose callers share one call. It returns undefined if the endpoint lags behind a
 * known final block, because it would count AUSD that is already spent.
 */
export function treasuryReader(context: Context): () => Promise<TreasuryAnswer | undefined> {
  let last: { at: number; reading: Promise<TreasuryAnswer | undefined> } | undefined
  return () => {
    const now = context.clock()
    if (last && isRecent(last.at, now, freshMs)) return last.reading
    const reading = readTreasury(context, new Date(now))
    last = { at: now, reading }
    reading.then(
      (read) => read ?? forget(reading),
      () => forget(reading),
    )
    return reading
  }
  function forget(reading: Promise<unknown>): undefined {
    if (last?.reading === reading) last = undefined
    return undefined
  }
}

async function readTreasury(
  { database, node, contracts, treasury, policy }: Context,
  readAt: Date,
): Promise<TreasuryAnswer | undefined> {
  const takenAt = await database.read(newestTreasurySpending)
  const token = { address: contracts.ausd, abi: ausdAbi } as const
  const [balance, allowance, blockNumber] = await node.reader.multicall({
    allowFailure: false,
    blockTag: 'finalized',
    contracts: [
      { ...token, functionName: 'balanceOf', args: [treasury.address] },
      { ...token, functionName: 'allowance', args: [treasury.address, contracts.creditLine] },
      { address: multicall3, abi: multicallAbi, functionName: 'getBlockNumber' },
    ],
  })
  // guard: a lagging endpoint does not determine the treasury balance
  if (blockNumber < takenAt) return undefined
  const ordered = await database.read((db) => orderedMicro(db, blockNumber))
  return {
    balance: String(balance),
    // An unlimited allowance has more digits than any AUSD amount.
    drawable: String(atMost(allowance, balance)),
    ordered: String(ordered),
    creditMax: String(policy.limits.credit.most),
    repayMax: String(policy.limits.repay.most),
    blockNumber: String(blockNumber),
    readAt: readAt.toISOString(),
  }
}
