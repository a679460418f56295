import type { BooksContext } from './context'
import { readChain } from './external/chain'
import { readChainBalances } from './external/chain-balances'
import { bookLanes } from './external/lanes'
import { readNames } from './external/names'
import { readProvider } from './external/provider'
import { bookTreasury } from './external/treasury'

/** Throws if a source cannot be read completely; data already read stays. */
export async function readOutside(context: BooksContext): Promise<void> {
  const block = await readChain(context)
  const lanes = await readChainBalances(context, block)
  // After the chain, so that a transfer which a row explains is not booked as unexplained.
  await readNames(context)
  await bookTreasury(context, block)
  await readProvider(context)
  // Last, so that the relayer has had time to book the final transactions.
  await bookLanes(context, lanes)
}
