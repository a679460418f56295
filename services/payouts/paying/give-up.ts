import type { CashoutGiveUp } from '#shared/messages/payouts'
import type { ReadRequestOf } from '#shared/messages/topic'
import { findCashout } from '../cashout.store'
import type { Cashout } from '../cashout.table'
import type { Context } from '../context'
import { conclusiveAfterMs } from '../decide'
import { isAtProvider, returnUnmade } from './pay'

/** Failure code of a payout that operators gave up. */
const givenUp = 'GIVEN_UP'

/**
 * Ends a payout for an operator, who knows from the provider that it was not made and will not be: no look-up finds it. Its AUSD
 * is returned. Throws if the provider cannot be read. A retry changes nothing.
 */
export async function giveUpPayout(
  context: Context,
  { payoutId, by, reason }: ReadRequestOf<typeof CashoutGiveUp>,
): Promise<{ done: string } | { refused: string }> {
  const cashout = await context.database.read((db) => findCashout(db, payoutId))
  if (!cashout) return { refused: `there is no cash-out ${payoutId}` }
  if (wasGivenUp(cashout)) return doneBefore(cashout)
  const fault = faultOf(cashout, context.clock())
  if (fault) return { refused: `${payoutId} ${fault}` }
  // guard: a payout that the provider has is not given up
  if (await isAtProvider(context, cashout))
    return { refused: `the provider has the payout of ${payoutId}: it is followed` }
  if (!(await returnUnmade(context, cashout, givenUp))) {
    const current = await context.database.read((db) => findCashout(db, payoutId))
    return wasGivenUp(current) ? doneBefore(current) : { refused: `${payoutId} has just changed: look again` }
  }
  context.log.info({ payoutId, by, reason }, 'payout given up by operator')
  return { done: `the payout of ${payoutId} is given up, and its AUSD is being returned` }
}

const wasGivenUp = (cashout: Cashout | undefined): cashout is Cashout => cashout?.failureCode === givenUp

const doneBefore = ({ id, state }: Cashout) => ({ done: `the payout of ${id} was given up, and its AUSD is ${state}` })

/** Returns why a payout cannot be given up, in words that follow its id. */
export function faultOf(
  { state, attemptedAt }: Pick<Cashout, 'state' | 'attemptedAt'>,
  nowMs: number,
): string | undefined {
  if (state !== 'paying') return `is ${state}: only a payout that was ordered can be given up`
  // guard: a payout is not given up before a look-up would show it
  if (attemptedAt && nowMs - attemptedAt.getTime() < conclusiveAfterMs) return 'was ordered a moment ago: wait a minute'
  return undefined
}
