import type { BooksContext } from './context'
import { readChain } from './outside/chain'
import { readChainBalances } from './outside/chain-balances'

/**
 * Reads what is new outside since the last checkpoint into the schema `books`. Throws when a source
 * cannot be read whole; what was read stays.
 */
export async function readOutside(context: BooksContext): Promise<void> {
  const block = await readChain(context)
  await readChainBalances(context, block)
}
