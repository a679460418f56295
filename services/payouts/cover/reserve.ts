import { lockNamed } from '#shared/db/lock'
import { release, reserveWithin } from '#shared/db/reservation.store'
import { failpoint } from '#shared/failpoint'
import { type Answer, ok, refuse } from '#shared/refusals'
import type { Context } from '../context'
import { reservations } from '../schema.store'
import type { Balance } from './balance'
import { unpaidBy } from './promise.store'

type Wanted = { readonly quoteId: string; readonly fiatMinor: bigint }

/** Minimum age of a reading before an insufficient balance is read again. */
const askAgainMs = 5_000

/**
 * Reserves the rupiah of a cash-out until its row is stored. Refuses if the provider's balance does
 * not cover it on top of all unpaid cash-outs. Reads the balance once more before refusing, in case
 * it was topped up.
 */
export async function coverCashout(context: Context, wanted: Wanted): Promise<Answer<object>> {
  const { balance, clock } = context
  const known = await balance.current()
  if (!known) return refuse('provider_unavailable')
  if (await setAside(context, wanted, known)) return ok({})
  if (clock() - known.readAt.getTime() < askAgainMs) return refuse('payouts_short')
  await balance.refresh()
  const newer = balance.last()
  return newer && (await setAside(context, wanted, newer)) ? ok({}) : refuse('payouts_short')
}

/** Reserves under a lock held for one sum, which serialises cash-outs over all instances. */
async function setAside(
  { database }: Context,
  { quoteId, fiatMinor }: Wanted,
  balance: Balance,
): Promise<boolean> {
  const isSetAside = await database.transaction(async (tx) => {
    await lockNamed(tx, 'cover of cash-outs')
    const within = { taken: unpaidBy(balance.readAt), takenMax: balance.minor - fiatMinor }
    return reserveWithin(tx, reservations, { quoteId, amount: fiatMinor }, within)
  })
  if (isSetAside) failpoint('payouts:cover-reserved')
  return isSetAside
}

/** Releases the reservation of a cash-out that was not stored. */
export const uncoverCashout = ({ database }: Context, quoteId: string) =>
  database.run((db) => release(db, reservations, quoteId))
