import type { BooksContext } from './context'

/**
 * Reads what is new outside since the last checkpoint into the schema `books`. Throws when a source
 * cannot be read whole; what was read stays.
 */
export async function readOutside(_context: BooksContext): Promise<void> {}
