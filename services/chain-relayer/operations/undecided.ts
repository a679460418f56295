import { isRecent } from '#platform/clock'
import type { Context } from '../context'
import { findUndecided } from './operation.store'
import { giveUp } from './order'

const everyMs = 1_000
const rowsMax = 256

/**
 * Ends signed transfers that have waited for longer than `transferEndsMs`, whatever the reason: a paused token,
 * a chain that cannot be read, a wallet whose code answers differently each time. It does not read the chain. The AUSD
 * of a transfer that happens later anyway is returned.
 */
export async function endUndecided(context: Context): Promise<void> {
  const { memory, clock, database } = context
  if (isRecent(memory.undecidedAt, clock(), everyMs)) return
  memory.undecidedAt = clock()
  for (const operation of await database.read((db) => findUndecided(db, rowsMax)))
    await giveUp(context, operation, 'undecided', false)
}
