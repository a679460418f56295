import type { Tx } from '#platform/db/open'
import type { Context } from '../context'
import { lockAllTopups, sumAllTopups } from './sums.store'

/** Returns true if the limit on the top-ups of all wallets together has room today for more AUSD (10⁻⁶), or if there is none. */
export async function fitsLimitOfAll(
  tx: Tx,
  { clock, allDayMicroMax }: Pick<Context, 'clock' | 'allDayMicroMax'>,
  moreMicro: bigint,
): Promise<boolean> {
  if (allDayMicroMax === null) return true
  // guard: the top-ups of all wallets of a day are counted one after another
  lockAllTopups(tx)
  // guard: the top-ups of all wallets of a day have a limit
  if ((await sumAllTopups(tx, new Date(clock()))) + moreMicro > allDayMicroMax) return false
  return true
}
