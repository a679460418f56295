import type { TopupRefund } from '#shared/messages/payments'
import type { ReadRequestOf } from '#shared/messages/topic'
import { moneyText } from '#shared/money/text'
import type { Context } from '../context'
import { reportedOf } from '../losses/follow'
import { findWallet } from '../losses/refund.store'
import { lockPayment } from '../payment.store'
import { orderRefunds } from './refund'
import { stillOpen, topupRefundFault } from './resolution'
import { countTransfers, findCountedElsewhere, insertResolution, lastResolution } from './resolution.store'

/**
 * Refunds a credited top-up for an operator, after its AUSD came back to the treasury: the provider pays all that is left of
 * it to the payer, and the wallet owes nothing for it. A retry changes nothing.
 */
export async function refundCredited(
  context: Context,
  { command, paymentId, transfers, back, by, reason, approval }: ReadRequestOf<typeof TopupRefund>,
): Promise<{ done: string } | { refused: string }> {
  const outcome = await context.database.transaction(async (tx) => {
    const payment = await lockPayment(tx, paymentId)
    if (!payment) return { refused: `there is no payment ${paymentId}` }
    const { state, providerPaymentId, paidMinor, fiatMinor } = payment
    const last = await lastResolution(tx, paymentId)
    // guard: a credited top-up is refunded once
    if (last?.commandId === command) return { done: `${paymentId} was refunded by this command, and is now ${state}` }
    // guard: operators decide about the payment that they were shown
    if (approval && approval.terms.seen !== payment.changedAt.toISOString())
      return { refused: `${paymentId} has just changed: look again` }
    const fault = topupRefundFault(payment, BigInt(back))
    if (fault) return { refused: `${paymentId} ${fault}` }
    const other = await findCountedElsewhere(tx, transfers, paymentId)
    // guard: AUSD that came back counts for one payment
    if (other) return { refused: `${other.name} was used for ${other.paymentId}` }
    const { goneMinor, isOpen } = await reportedOf(tx, payment)
    if (isOpen) return stillOpen
    // guard: a credited top-up of a frozen wallet is not refunded
    if ((await findWallet(tx, payment.wallet))?.frozen)
      return { refused: `${payment.wallet} is frozen: see wallets list, and end that first` }
    const minor = (paidMinor ?? fiatMinor) - goneMinor
    const charge = { providerPaymentId: providerPaymentId!, minor, isSecond: false }
    const ordered = await orderRefunds(tx, context, payment, [charge])
    if ('refused' in ordered) return ordered
    await countTransfers(tx, transfers, { paymentId, commandId: command })
    const because = `${reason} (${moneyText(back, 'AUSD')} came back in ${transfers.join(', ')})`
    await insertResolution(tx, { commandId: command, paymentId, resolution: 'refund', decidedBy: by, reason: because })
    context.log.info({ paymentId, transfers, back, by }, 'credited top-up refunded by operator')
    return ordered
  })
  context.poke()
  return outcome
}
