import { lockNamed } from '#shared/db/lock'
import type { Db } from '#shared/db/open'
import { release, reserveWithin } from '#shared/db/reservation.store'
import { failpoint } from '#shared/failpoint'
import { type Answer, ok, refuse } from '#shared/refusals'
import type { Context } from '../context'
import { reservations } from '../schema.store'
import { canRepay, promisedMax } from './cover'
import { promisedBy } from './promise.store'

// Cover checks before a quote is taken. A top-up must be covered on top of all existing promises; a
// settlement only by the treasury as a whole.

/**
 * Reserves the AUSD of a top-up until its row is stored. A lock serialises this over all instances
 * for the duration of the sum, so that concurrent top-ups see each other's reservations. `limits`
 * are the wallet's own: they are refused before a lack of cover, and checked again under the wallet
 * lock when the row is stored.
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

/** Releases the reservation of a top-up that was not stored. */
export const uncoverTopup = ({ database }: Context, quoteId: string) =>
  database.run((db) => release(db, reservations, quoteId))

/** Refuses a settlement only if the treasury is known to be unable to repay the debt. */
export async function coverSettlement(
  { treasury }: Context,
  debtMicro: bigint,
): Promise<Answer<object>> {
  const known = await treasury.current()
  return known && !canRepay(known, debtMicro) ? refuse('treasury_empty') : ok({})
}
