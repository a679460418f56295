import { lockNamed } from '#platform/db/lock'
import type { PaymentTakenBack } from '#shared/messages/payments'
import type { ReadRequestOf } from '#shared/messages/topic'
import { moneyText } from '#shared/money/text'
import type { Context } from '../context'
import { followReports, restIn } from '../losses/follow'
import { findReportsById, recordReport } from '../losses/refund.store'
import { chargebackId, shareId } from '../losses/report'
import { lockPayment } from '../payment.store'
import { findSeconds } from './resolution.store'

/**
 * Records that the provider took back money of a payment by a transaction that no source reports as its own, such as the
 * `ADJUSTMENT_DEDUCT` of a lost dispute (docs.xendit.co/docs/transactions-report). It counts like a chargeback of the
 * list: the hold is revoked, or the wallet is frozen. One transaction may have taken money of several payments, each of which
 * is recorded with its own share; the books compare their sum with the transaction. A retry changes nothing.
 */
export async function recordTakenBack(
  context: Context,
  { paymentId, transactionId, minor, by, reason }: ReadRequestOf<typeof PaymentTakenBack>,
): Promise<{ done: string } | { refused: string }> {
  const outcome = await context.database.transaction(async (tx) => {
    const payment = await lockPayment(tx, paymentId)
    if (!payment) return { refused: `there is no payment ${paymentId}` }
    const { providerPaymentId, currency } = payment
    if (providerPaymentId === null) return { refused: `no money of ${paymentId} was received` }
    const refundedMinor = BigInt(minor)
    // Of an overpaid settlement, a part of its charge is money beyond the promise.
    const restMinor = restIn(payment, await findSeconds(tx, paymentId))
    if (refundedMinor > (payment.paidMinor ?? payment.fiatMinor) + restMinor)
      return { refused: `${moneyText(minor, currency)} is more than was paid for ${paymentId}` }
    lockNamed(tx, `taken back:${transactionId}`)
    const [first] = await findReportsById(tx, [chargebackId(transactionId)])
    if (first?.paymentId === '') return { refused: `${transactionId} is recorded for no payment` }
    const isFirst = !first || first.paymentId === paymentId
    const id = isFirst ? chargebackId(transactionId) : shareId(transactionId, paymentId)
    const [before] = isFirst ? [first] : await findReportsById(tx, [id])
    if (!before && refundedMinor === 0n) return { refused: `${transactionId} is not recorded for ${paymentId}` }
    const status = refundedMinor === 0n ? 'dead' : 'succeeded'
    const report = { id, paymentId, providerPaymentId, refundedMinor, status, origin: 'chargeback' } as const
    await recordReport(tx, report)
    await followReports(tx, context, paymentId, { id, origin: 'chargeback', before })
    context.log.info({ paymentId, transactionId, minor, by, reason }, 'payment taken back, by operator')
    return { done: `${moneyText(minor, currency)} of ${paymentId} were taken back by ${transactionId}` }
  })
  context.poke()
  return outcome
}
