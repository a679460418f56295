import type { Address } from 'viem'
import { type LogNode, readAtAny } from '#infra/operations/record/chain-log'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
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
 * Stores the AUSD balances at `block`, with the AUSD that the credit line owes to its users and its pool, and returns the lanes' coin. `bookLanes` stores the coin once the relayer has
 * booked up to `block`.
 */
export const readChainBalances = (context: BooksContext, block: bigint): Promise<LaneReading[]> =>
  readAtAny(context.place.rpcUrls, (node) => readBalancesAt(node, context, block))

async function readBalancesAt(
  node: LogNode,
  { sql, database, place, clock }: BooksContext,
  block: bigint,
): Promise<LaneReading[]> {
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
  const [collateral, pool] = await Promise.all(
    (['totalCollateral', 'poolBalance'] as const).map((functionName) =>
      node.readContract({ address: place.creditLine, abi: creditLineAbi, functionName, blockNumber: block }),
    ),
  )
  const common = { asset: 'AUSD', block, nonce: null, readAt }
  const amounts = { treasury: treasury!, credit_line: creditLine!, credit_line_owes: collateral! + pool! }
  // They are stored together, because a rule compares two of them.
  await database.transaction(async (tx) => {
    for (const [place, amount] of Object.entries(amounts)) await recordBalance(tx, { place, amount, ...common })
  })

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
