import type { BooksContext } from './context'
import { readChain } from './outside/chain'
import { readChainBalances } from './outside/chain-balances'
import { bookLanes } from './outside/lanes'
import { readNames } from './outside/names'
import { readProvider } from './outside/provider'
import { bookTreasury } from './outside/treasury'

/**
 * Reads new data of chain and provider since the last checkpoint into the schema `books`. Throws if
 * a source cannot be read completely; data already read stays.
 */
export async function readOutside(context: BooksContext): Promise<void> {
  const block = await readChain(context)
  const lanes = await readChainBalances(context, block)
  // Names are read after the chain, so that a transfer which a row explains is not booked as
  // unexplained.
  await readNames(context)
  await bookTreasury(context, block)
  await readProvider(context)
  // Last, so that the relayer has had time to book the final transactions.
  await bookLanes(context, lanes)
}
