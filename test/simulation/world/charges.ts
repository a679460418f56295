import type { Book } from '#infra/sandbox/book'
import type { Payment, PaymentSession, Payout } from '#infra/sandbox/records'

// The state of our payments and payouts in the provider's book.

const gone: readonly Payout['status'][] = ['FAILED', 'REVERSED', 'CANCELLED']

/** Returns the first session of a payment of ours. */
export const sessionOf = (book: Book, paymentId: string): PaymentSession | undefined =>
  book.all('sessions').find(({ referenceId }) => referenceId === paymentId)

/** Returns our id of the payment that was paid. */
export const referenceOf = (book: Book, { sessionId }: Payment): string =>
  book.get('sessions', sessionId)?.referenceId ?? ''

/** Returns true if the list says that a payment was cancelled. Unless it was known before, nobody needs to know it. */
export const isCancelled = ({ forced }: Payment): boolean => forced?.listed !== undefined

const isVoid = ({ forced }: Payment): boolean => forced?.status !== undefined || forced?.listed !== undefined

/** Returns the refunds and chargebacks of a payment, and all of it if it is void. */
export function refundedOf(book: Book, payment: Payment): bigint {
  const own = ({ paymentId }: { paymentId: string }) => paymentId === payment.id
  let minor = isVoid(payment) ? payment.capturedMinor : 0n
  for (const { status, amountMinor } of book.all('refunds').filter(own))
    if (status === 'SUCCEEDED') minor += amountMinor
  // An amount in another currency counts as the whole.
  for (const { status, amountMinor, currency } of book.all('chargebacks').filter(own))
    if (status === 'SUCCESS') minor += currency === undefined ? amountMinor : payment.capturedMinor
  return minor
}

export const payoutsOf = (book: Book, cashoutId: string): readonly Payout[] =>
  book.all('payouts').filter(({ referenceId }) => referenceId === cashoutId)

/** Returns true if the money of a payout is with the bank or on its way there. */
export const isPaid = ({ status }: Payout): boolean => !gone.includes(status)
