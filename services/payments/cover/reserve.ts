import { lockNamed } from '#shared/db/lock'
import type { Tx } from '#shared/db/open'
import { release, reserve } from '#shared/db/reservation.store'
import { type Answer, ok, refuse } from '#shared/refusals'
import type { Context } from '../context'
import { reservations } from '../schema.store'
import { canRepay, freeMicro } from './cover'
import { sumTaken } from './promise.store'

// Before a quote is taken: is what we are about to promise there? A top-up has to be covered beside
// everything that is promised already; a settlement by the treasury alone.

/**
 * Sets the AUSD of a top-up aside until its row is stored. `limits` are the wallet's own, whose
 * refusals come first. All top-ups of all copies are counted one after the other, for as long as a
 * sum takes: of many at once each counts what the one before set aside.
 */
export async function coverTopup(
  { database, treasury }: Context,
  { quoteId, ausdMicro }: { quoteId: string; ausdMicro: bigint },
  limits: (tx: Tx) => Promise<Answer<unknown>>,
): Promise<Answer<object>> {
  const known = await treasury.current()
  return database.transaction(async (tx) => {
    const limited = await limits(tx)
    if ('refused' in limited) return limited
    if (!known) return refuse('chain_unavailable')
    await lockNamed(tx, 'cover of top-ups')
    const takenMicro = await sumTaken(tx, known.readAt, quoteId)
    if (freeMicro(known, takenMicro) < ausdMicro) return refuse('treasury_short')
    await reserve(tx, reservations, { quoteId, amount: ausdMicro })
    return ok({})
  })
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
