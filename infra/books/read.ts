import type { BooksContext } from './context'
import { readChain } from './outside/chain'
import { readChainBalances } from './outside/chain-balances'
import { bookLanes } from './outside/lanes'
import { readNames } from './outside/names'
import { readProvider } from './outside/provider'
import { bookTreasury } from './outside/treasury'

/**
 * Reads what is new outside since the last checkpoint into the schema `books`. Throws when a source
 * cannot be read whole; what was read stays.
 */
export async function readOutside(context: BooksContext): Promise<void> {
  const block = await readChain(context)
  const lanes = await readChainBalances(context, block)
  // Names come after the chain: what a row explained when it was read is not called unexplained.
  await readNames(context)
  await bookTreasury(context, block)
  await readProvider(context)
  // Last, so that the relayer has had the time to book what was final.
  await bookLanes(context, lanes)
}
