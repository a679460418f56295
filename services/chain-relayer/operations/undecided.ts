import { isRecent } from '#platform/clock'
import { type Loop, startLoop } from '#platform/loop'
import type { Context } from '../context'
import { findUndecided } from './operation.store'
import { giveUp } from './order'

const everyMs = 1_000
const rowsMax = 256

type Ending = Pick<Context, 'memory' | 'clock' | 'database' | 'log' | 'poke'>

/** Ends such transfers also before there are rounds of the lanes, which wait for the chain. */
export const startEndingUndecided = (context: Ending): Loop =>
  startLoop({ name: 'undecided', everyMs, log: context.log, work: () => endUndecided(context) })

/**
 * Ends signed transfers that have waited for longer than `transferEndsMs`, whatever the reason: a paused token,
 * a chain that cannot be read, a wallet whose code answers differently each time. It does not read the chain. The AUSD
 * of a transfer that happens later anyway is returned.
 */
export async function endUndecided(context: Ending): Promise<void> {
  const { memory, clock, database } = context
  if (isRecent(memory.undecidedAt, clock(), everyMs)) return
  memory.undecidedAt = clock()
  for (const operation of await database.read((db) => findUndecided(db, rowsMax)))
    await giveUp(context, operation, 'undecided', false)
}
