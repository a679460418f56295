import type { ActivityReason, NextAction } from '#shared/messages/activity'
import { moneyText } from '#shared/money/text'
import { awaitsRate, isOnHold, type PaymentState, type Reason } from '../payment'
import type { ListedPayment } from './activity.store'

// The text a user reads about a payment: a code for an unusual outcome, a sentence, and the next
// step.

/** The event behind each reason. */
const texts: Readonly<Record<Reason, string>> = {
  awaiting_rate:
    'Your payment arrived after the checkout closed. We are waiting for an exchange rate.',
  sender_unverified: 'We could not confirm that the bank account you paid from is yours.',
  excess_refused:
    'When this payment arrived, it would have exceeded the limits of top-ups. It was not applied.',
  amount_differs: 'The amount you paid differs from the checkout amount.',
  currency_differs: 'You paid in a different currency from the checkout.',
  paid_twice: 'This checkout was paid twice. The second payment was not credited.',
  second_refunded: 'This checkout was paid twice. The second payment was refunded.',
  replaced: 'A newer checkout for this debt replaced this one.',
  cancelled: 'This checkout was canceled.',
  made_good:
    'This payment first covered an earlier reversed payment; any remainder is credited to you.',
  refunded_before_credit: 'The payment was refunded before it was credited.',
  refunded_in_part: 'Part of the payment was refunded; only the rest is applied.',
  refunded_during_hold: 'The payment was refunded during its hold.',
  refunded_after_credit: 'The payment was refunded after it was credited.',
  refund_undone: 'The refund of this payment failed or was withdrawn, so we hold your money again.',
  credit_failed: 'Your payment arrived, but we could not credit it yet.',
  repay_failed: 'Your payment arrived, but we could not repay your debt with it yet.',
  revoke_failed: 'The payment was refunded just as its hold ended.',
}

/** Added after any other reason. */
const paidLate = 'It was paid after the checkout closed, so a later exchange rate applies.'

type Words = { readonly sentence: string; readonly nextAction: NextAction | null }

/** Sentence and next step for each state shown to the user. */
const standing: Readonly<Record<Exclude<PaymentState, 'opening'>, Words>> = {
  awaiting_payment: { sentence: 'Pay before the checkout closes.', nextAction: 'pay' },
  expired: { sentence: 'This checkout is closed.', nextAction: null },
  replaced: { sentence: 'This checkout is closed.', nextAction: null },
  paid: { sentence: 'We received your payment and are processing it.', nextAction: 'wait' },
  held: {
    sentence:
      'This payment can still be reversed, so it is on hold. It counts as collateral when the ' +
      'hold ends.',
    nextAction: 'wait',
  },
  credited: { sentence: 'This top-up is complete.', nextAction: null },
  repaid: { sentence: 'Your debt has been repaid.', nextAction: null },
  revoking: { sentence: 'The AUSD from this payment is being reversed.', nextAction: 'wait' },
  revoked: { sentence: 'The AUSD from this payment was reversed.', nextAction: null },
  refunded: { sentence: 'No AUSD was credited.', nextAction: null },
  review: {
    sentence: 'This payment needs manual review. Contact support with its id.',
    nextAction: 'contact support',
  },
  refunding: {
    sentence: 'Support is refunding the amount that could not be applied.',
    nextAction: 'wait',
  },
  accepted: { sentence: 'Support has resolved this payment.', nextAction: null },
}

const unconfirmed: Words = {
  sentence:
    'This checkout has closed. We are waiting for the payment provider to confirm whether it was ' +
    'paid. If you have paid, do not pay again.',
  nextAction: 'wait',
}

const unpaid: Words & { reason: ActivityReason } = {
  reason: 'not_paid_in_time',
  sentence: 'The checkout was not paid in time. Nothing was charged. Open a new checkout to pay.',
  nextAction: null,
}

const canceled: Words & { reason: ActivityReason } = {
  reason: 'cancelled',
  sentence: `${texts.cancelled} Nothing was charged. Open a new checkout to pay.`,
  nextAction: null,
}

const repaidOnHold: Words = {
  sentence:
    'Your debt has been repaid. The same amount of your limit stays reserved until the hold ends, ' +
    'because this payment can still be reversed.',
  nextAction: 'wait',
}

/** Reasons for review that end once the reversal is repaid. */
const ofTakenBack: ReadonlySet<Reason> = new Set(['refunded_after_credit', 'revoke_failed'])

/** Words for a payment reversed after its hold; `micro` (10⁻⁶ AUSD) is still owed. */
const takenBack = (micro: string): Words =>
  micro === '0'
    ? { sentence: 'You no longer owe anything for this reversed payment.', nextAction: null }
    : {
        sentence:
          `You owe ${moneyText(micro, 'AUSD')} for this reversed payment. Your wallet is frozen ` +
          'until it is repaid. Top up by bank transfer or QR, or contact support.',
        nextAction: 'contact support',
      }

/** Returns the words for a payment in the status shown to its user. */
export function wordsFor(
  payment: ListedPayment,
  status: Exclude<PaymentState, 'opening'>,
): Words & { readonly reason?: ActivityReason } {
  const isLate = payment.lateRateMinorPerUsd !== null
  const waits = awaitsRate(payment)
  // Past its end, but the provider has not yet been asked how it ended.
  if (status === 'expired' && payment.state === 'awaiting_payment') return unconfirmed
  if (status === 'expired' && !waits) return payment.reason === 'cancelled' ? canceled : unpaid
  const { sentence, nextAction } = wordsOf(payment, status)
  const reason = payment.reason ?? (isLate ? 'paid_late' : undefined)
  const why = payment.reason ? [texts[payment.reason]] : []
  const sentences = [...why, ...(isLate ? [paidLate] : []), ...(waits ? [] : [sentence])]
  return {
    ...(reason ? { reason } : {}),
    sentence: sentences.join(' '),
    nextAction: waits ? 'wait' : nextAction,
  }
}

function wordsOf(payment: ListedPayment, status: Exclude<PaymentState, 'opening'>): Words {
  if (status === 'repaid' && isOnHold(payment)) return repaidOnHold
  const { missingMicro, reason } = payment
  if (status !== 'review' || missingMicro === null) return standing[status]
  // A repaid reversal needs no review; any other reason still does.
  const waitsForMore = missingMicro === '0' && reason !== null && !ofTakenBack.has(reason)
  return waitsForMore ? standing[status] : takenBack(missingMicro)
}
