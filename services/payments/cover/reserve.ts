import { lockNamed } from '#shared/db/lock'
import type { Db } from '#shared/db/open'
import { release, reserveWithin } from '#shared/db/reservation.store'
import { failpoint } from '#shared/failpoint'
import { type Answer, ok, refuse } from '#shared/refusals'
import type { Context } from '../context'
import { reservations } from '../schema.store'
import { canRepay, promisedMax } from './cover'
import { promisedBy } from './promise.store'

// Before a quote is taken: is what we are about to promise there? A top-up has to be covered beside
// everything that is promised already; a settlement by the treasury alone.

/**
 * Sets the AUSD of a top-up aside until its row is stored. All top-ups of all copies are counted one
 * after the other, for as long as a sum takes: of many at once each counts what the one before set
 * aside. `limits` are the wallet's own: their refusals come before one for lack of cover, and they
 * are looked at again, under the wallet's lock, when the row is stored.
 */
export async function coverTopup(
  { database, treasury }: Context,
  { quoteId, ausdMicro }: { quoteId: string; ausdMicro: bigint },
  limits: (db: Db) => Promise<Answer<unknown>>,
): Promise<Answer<object>> {
  const known = await treasury.current()
  const isReserved =
    known &&
    (await database.transaction(async (tx) => {
      await lockNamed(tx, 'cover of top-ups')
      const within = { taken: promisedBy(known.readAt), takenMax: promisedMax(known, ausdMicro) }
      return reserveWithin(tx, reservations, { quoteId, amount: ausdMicro }, within)
    }))
  if (isReserved) {
    failpoint('payments:cover-reserved')
    return ok({})
  }
  const limited = await database.read(limits)
  if ('refused' in limited) return limited
  return refuse(known ? 'treasury_short' : 'chain_unavailable')
}

/** Nothing was stored for what was set aside. */
export const uncoverTopup = ({ database }: Context, quoteId: string) =>
  database.run((db) => release(db, reservations, quoteId))

/** Refused only when the treasury is known not to be able to repay the debt: one must be payable. */
export async function coverSettlement(
  { treasury }: Context,
  debtMicro: bigint,
): Promise<Answer<object>> {
  const known = await treasury.current()
  return known && !canRepay(known, debtMicro) ? refuse('treasury_empty') : ok({})
}
