import type { BooksContext } from './context'
import { readChain } from './external/chain'
import { readChainBalances } from './external/chain-balances'
import { bookLanes } from './external/lanes'
import { readNames } from './external/names'
import { readProvider } from './external/provider'
import { bookTreasury } from './external/treasury'

/**
 * Reads chain and provider into the books. Throws if a source cannot be read completely; what was read before stays.
 */
export async function readOutside(context: BooksContext, { whole = false } = {}): Promise<void> {
  const block = await readChain(context)
  const lanes = await readChainBalances(context, block)
  // The treasury is booked after the chain is read, so that a transfer which a row explains is not booked as
  // unexplained.
  await readNames(context, whole)
  await bookTreasury(context, block)
  await readProvider(context)
  // Lanes are booked last, so that the relayer has had time to book the final transactions.
  await bookLanes(context, lanes)
}
