import { lockNamed } from '#shared/db/lock'
import { release, reserveWithin } from '#shared/db/reservation.store'
import { failpoint } from '#shared/failpoint'
import { type Answer, ok, refuse } from '#shared/refusals'
import type { Context } from '../context'
import { reservations } from '../schema.store'
import type { Balance } from './balance'
import { unpaidBy } from './promise.store'

type Wanted = { readonly quoteId: string; readonly fiatMinor: bigint }

/** Sooner than this the balance is not asked for again because it did not suffice. */
const askAgainMs = 5_000

/**
 * Sets the rupiah of a cash-out aside until its row is stored; refused when the provider's balance does
 * not cover it beside every cash-out that is not paid yet. A balance that has grown since it was read is
 * noticed: it is read once more before anybody is refused.
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

/** All cash-outs of all copies are counted one after the other, for as long as a sum takes. */
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

/** Nothing was stored for what was set aside. */
export const uncoverCashout = ({ database }: Context, quoteId: string) =>
  database.run((db) => release(db, reservations, quoteId))
