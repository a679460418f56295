import type { Address } from 'viem'
import { openNode } from '#infra/operations/record/chain-log'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import type { BooksContext } from '../context'
import { recordBalance } from './balance.store'

/** Coin of a lane at the end of `block`, and its `nonce`: the number of transactions it had sent by then. */
export type LaneReading = {
  readonly lane: Address
  readonly block: bigint
  readonly wei: bigint
  readonly nonce: number
  readonly readAt: Date
}

/**
 * Stores the AUSD balances at `block`, and returns the lanes' coin. `bookLanes` stores the coin once the relayer has
 * booked up to `block`.
 */
export async function readChainBalances(
  { sql, database, place, clock }: BooksContext,
  block: bigint,
): Promise<LaneReading[]> {
  const node = openNode(place.rpcUrl)
  const readAt = new Date(clock())
  const ausdOf = (holder: Address) =>
    node.readContract({
      address: place.ausd,
      abi: ausdAbi,
      functionName: 'balanceOf',
      args: [holder],
      blockNumber: block,
    } as const)
  const [treasury, creditLine] = await Promise.all([place.treasury, place.creditLine].map(ausdOf))
  const common = { asset: 'AUSD', block, nonce: null, readAt }
  await database.run((db) => recordBalance(db, { place: 'treasury', amount: treasury!, ...common }))
  await database.run((db) => recordBalance(db, { place: 'credit_line', amount: creditLine!, ...common }))

  const lanes = await sql<{ address: Address }[]>`select address from chain_relayer.lane`
  return Promise.all(
    lanes.map(async ({ address }) => ({
      lane: address,
      block,
      readAt,
      wei: await node.getBalance({ address, blockNumber: block }),
      nonce: await node.getTransactionCount({ address, blockNumber: block }),
    })),
  )
}
