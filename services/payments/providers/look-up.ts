import { noneOfItsForm, ProviderUnknown, refusesId } from '#shared/provider/problem'
import type { Context } from '../context'
import type { PaymentRow } from '../payment.table'
import type { Charge, FetchedCharge, FetchedRefund, PaymentProvider } from '../provider'
import { recordAnomaly } from '../schema.store'

/**
 * Finds the charge of a refund or dispute. Either id may be missing or of a form that the provider refuses, and that of
 * the payment may be the id of its request (https://docs.xendit.co/docs/cards-refund-a-card-payment). A payment
 * request names only its latest payment, so a payment id wins if it leads to a charge of that request.
 */
export async function findRefunded(
  provider: Pick<PaymentProvider, 'findCharge' | 'findChargeOfRequest'>,
  account: PaymentRow['account'],
  { paymentId, paymentRequestId }: Pick<FetchedRefund, 'paymentId' | 'paymentRequestId'>,
): Promise<FetchedCharge | undefined> {
  const byPayment = paymentId ? await provider.findCharge(account, paymentId).catch(noneOfItsForm) : undefined
  const isOfRequest = !paymentRequestId || byPayment?.charge.paymentRequestId === paymentRequestId
  if (byPayment && isOfRequest) return byPayment
  const requestId = paymentRequestId ?? paymentId
  const byRequest = requestId ? await provider.findChargeOfRequest(account, requestId).catch(noneOfItsForm) : undefined
  return byRequest ?? byPayment
}

const kindOf = (id: string): string => id.slice(0, id.search(/[-_]/) + 1)

/**
 * Returns true if an id that no look-up finds is that of another payment than the charge. The provider finds a payment a
 * moment late at times, and then what names it is not about another one of the same promise. Ids of one kind have one
 * prefix; any other id names no payment.
 */
export const isAnother = (id: string | null, { charge }: FetchedCharge): boolean =>
  id !== null && id !== charge.paymentId && kindOf(id) === kindOf(charge.paymentId)

/**
 * Lists the refunds of a charge; undefined has the meaning that `listRefunds` gives it. The provider names the payment
 * of a refund by ids of several families: its own, that of its payment request, or an older one
 * (https://docs.xendit.co/docs/cards-refund-a-card-payment). So a refund of the request belongs to the charge unless it
 * leads to another charge.
 */
export async function listRefundsOf(
  provider: Pick<PaymentProvider, 'listRefunds' | 'findCharge' | 'findChargeOfRequest'>,
  { account, paymentId, paymentRequestId }: Charge,
): Promise<readonly FetchedRefund[] | undefined> {
  const all = paymentRequestId ? await provider.listRefunds(account, paymentRequestId) : undefined
  if (!all) return undefined
  const refunds: FetchedRefund[] = []
  for (const one of all) {
    const isOurs = one.paymentId === null || one.paymentId === paymentId
    const refunded = isOurs ? undefined : await findRefunded(provider, account, { ...one, paymentRequestId })
    // guard: a refund of the request counts unless it belongs to another payment
    if ((refunded?.charge.paymentId ?? paymentId) === paymentId) refunds.push(one)
  }
  return refunds
}

/**
 * Records that the provider refused to look up an object of ours, and alerts, because the state of the
 * payment stays unknown.
 */
export async function recordRefusedLookUp(
  { database, log }: Context,
  { id: paymentId, account }: Pick<PaymentRow, 'id' | 'account'>,
  error: unknown,
): Promise<void> {
  if (!(error instanceof ProviderUnknown && error.refusal && refusesId(error))) return
  const anomaly = { kind: 'look_up_refused', account, object: paymentId, paymentId } as const
  if (!(await database.run((db) => recordAnomaly(db, anomaly)))) return
  const { status, code } = error.refusal
  log.alarm({ paymentId, status, code }, 'provider refused lookup of our object')
}
