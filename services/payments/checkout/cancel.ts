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

/**
 * Cancellations allowed per wallet and day. Without a limit, one wallet could reserve the treasury's
 * cover all day.
 */
export const cancellationsPerDayMax = 10

/**
 * Cancels a checkout and returns its item: closed, or paid if the payment came first, or null if the wallet
 * has no such item. Refuses with `cancellation_unconfirmed` if the provider does not report how the checkout
 * ended; a recheck decides later.
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
      // Concurrent cancellations may have used up the day's limit. This checkout then only expires, and the
      // limits keep counting it.
      const end: typeof cancel = async (tx, ...row) => ((await isUsed(tx)) ? expire : cancel)(tx, ...row)
      if (await endCheckout(context, payment, end)) return refuse('cancellation_unconfirmed')
      // The provider reports the checkout as completed, but its charge is not decided yet.
      if ((await find())?.state === 'awaiting_payment') return refuse('cancellation_unconfirmed')
    }
    return ok({ item: await readItem(context, { wallet, id }) })
  })
