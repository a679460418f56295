import { handler } from '#platform/bus/serve'
import type { Db } from '#platform/db/open'
import { CheckoutCancel } from '#shared/messages/payments'
import { ok, refuse } from '#shared/refusals'
import type { Context } from '../context'
import { cancel, expire } from '../onchain/advance'
import { findPayment } from '../payment.store'
import { readItem } from '../queries/activity'
import { countCancelled } from '../treasury/sums.store'
import { endCheckout } from './end'

/** Per wallet and UTC day: without it, one wallet could set the treasury's cover aside all day. */
export const cancellationsPerDayMax = 10

/**
 * Returns the item as it is afterwards: closed, or paid if that came first; null if the wallet has
 * none. Refuses with `cancellation_unconfirmed` if the provider does not say how the checkout
 * ended: a recheck decides.
 */
export const answerCancellations = (context: Context) =>
  handler(CheckoutCancel, async ({ wallet, kind, id }) => {
    const { database, clock } = context
    const find = () => database.read((db) => findPayment(db, id))
    const payment = await find()
    if (payment?.wallet !== wallet || payment.kind !== kind) return ok({ item: null })
    if (payment.state === 'awaiting_payment') {
      const isUsed = async (db: Db) => (await countCancelled(db, wallet, new Date(clock()))) >= cancellationsPerDayMax
      if (await database.read(isUsed)) return refuse('cancellations_too_many')
      // Others may have used up the day since: the limits then keep counting this one.
      const end: typeof cancel = async (tx, ...row) => ((await isUsed(tx)) ? expire : cancel)(tx, ...row)
      if (await endCheckout(context, payment, end)) return refuse('cancellation_unconfirmed')
      // Completed, but its charge is not yet decided.
      if ((await find())?.state === 'awaiting_payment') return refuse('cancellation_unconfirmed')
    }
    return ok({ item: await readItem(context, { wallet, id }) })
  })
