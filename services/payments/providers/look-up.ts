import { noneOfItsForm, ProviderUnknown, refusesId } from '#shared/provider/problem'
import type { Context } from '../context'
import type { PaymentRow } from '../payment.store'
import type { FetchedCharge, FetchedRefund, PaymentProvider } from '../provider'
import { recordAnomaly } from '../schema.store'

// What a refused look-up means: on the way to the charge of a refund, try the next id; about anything
// that is ours, that nothing is known, and that a person has to know.

/**
 * The charge that a refund is about. Either id may be missing, and either may be of a form that the
 * provider does not take; the payment request comes first, because the other is to be dropped.
 * Undefined when neither leads to a charge.
 */
export async function findRefunded(
  provider: Pick<PaymentProvider, 'findCharge' | 'findChargeOfRequest'>,
  account: PaymentRow['account'],
  { paymentId, paymentRequestId }: Pick<FetchedRefund, 'paymentId' | 'paymentRequestId'>,
): Promise<FetchedCharge | undefined> {
  const byRequest = paymentRequestId
    ? await provider.findChargeOfRequest(account, paymentRequestId).catch(noneOfItsForm)
    : undefined
  if (byRequest || !paymentId) return byRequest ?? undefined
  return provider.findCharge(account, paymentId).catch(noneOfItsForm)
}

/** The provider refused to show what is ours. That is no news of it, and nobody but a person can act. */
export async function noteRefusedLookUp(
  { database, log }: Context,
  { id: paymentId, account }: Pick<PaymentRow, 'id' | 'account'>,
  error: unknown,
): Promise<void> {
  if (!(error instanceof ProviderUnknown && error.refusal && refusesId(error))) return
  const anomaly = { kind: 'look_up_refused', account, object: paymentId, paymentId } as const
  if (!(await database.run((db) => recordAnomaly(db, anomaly)))) return
  const { status, code } = error.refusal
  log.error({ paymentId, status, code, alarm: true }, 'provider refused lookup of our object')
}
