import type { Book } from '#infra/sandbox/book'
import { failedPayouts, type Payment, type PaymentSession, type Payout } from '#infra/sandbox/records'

// The state of our payments and payouts in the provider's book.

const gone: readonly Payout['status'][] = failedPayouts

/** Returns the first session of a payment of ours. */
export const sessionOf = (book: Book, paymentId: string): PaymentSession | undefined =>
  book.all('sessions').find(({ referenceId }) => referenceId === paymentId)

/** Returns our id of the payment that was paid. */
export const referenceOf = (book: Book, { sessionId }: Payment): string =>
  book.get('sessions', sessionId)?.referenceId ?? ''

/** Returns all payments of the checkout of one, oldest first. */
export const chargesOf = (book: Book, { sessionId }: Payment): readonly Payment[] =>
  book.all('payments').filter((one) => one.sessionId === sessionId)

/** Returns true if the list says that a payment was cancelled. Unless it was known before, nobody needs to know it. */
export const isCancelled = ({ forced }: Payment): boolean => forced?.listed !== undefined

const isVoid = ({ forced }: Payment): boolean => forced?.status !== undefined || forced?.listed !== undefined

/** Returns the refunds and chargebacks of a payment, and at least all of it if it is void. */
export function refundedOf(book: Book, payment: Payment): bigint {
  const own = ({ paymentId }: { paymentId: string }) => paymentId === payment.id
  let minor = 0n
  for (const { status, amountMinor } of book.all('refunds').filter(own))
    if (status === 'SUCCEEDED') minor += amountMinor
  const taken = book.all('chargebacks').filter((one) => own(one) && one.status === 'SUCCESS')
  for (const { amountMinor, currency } of taken) if (currency === undefined) minor += amountMinor
  // An amount in another currency counts as all that is left.
  const isWhole = isVoid(payment) || taken.some(({ currency }) => currency !== undefined)
  return isWhole && minor < payment.capturedMinor ? payment.capturedMinor : minor
}

/** Returns the part of it that refunds which we ordered took. */
export const orderedMinorOf = (book: Book, { id }: Payment): bigint =>
  book
    .all('refunds')
    .filter(
      ({ paymentId, status, referenceId }) => paymentId === id && status === 'SUCCEEDED' && isOrderedByUs(referenceId),
    )
    .reduce((minor, { amountMinor }) => minor + amountMinor, 0n)

const isOrderedByUs = (reference: string | null): boolean => reference?.startsWith('ordered-') ?? false

export const payoutsOf = (book: Book, cashoutId: string): readonly Payout[] =>
  book.all('payouts').filter(({ referenceId }) => referenceId === cashoutId)

/** Returns true if the money of a payout is with the bank or on its way there. */
export const isPaid = ({ status }: Payout): boolean => !gone.includes(status)
