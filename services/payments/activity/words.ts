import type { ActivityReason, NextAction } from '#shared/messages/activity'
import { moneyText } from '#shared/money/text'
import { awaitsRate, isOnHold, type PaymentState, type Reason } from '../payment'
import type { ListedPayment } from './activity.store'

// What a user reads about a payment: a closed word for why it did not go the usual way, a sentence, and
// what there is to do about it.

/** What happened, of each reason. */
const texts: Readonly<Record<Reason, string>> = {
  awaiting_rate: 'The payment came after the checkout closed and waits for an exchange rate.',
  sender_unverified: 'The bank account that paid could not be confirmed to be yours.',
  amount_differs: 'The amount paid differs from the amount asked for.',
  currency_differs: 'The payment came in another currency.',
  paid_twice: 'This checkout was paid twice; the second payment is to be returned.',
  second_refunded: 'This checkout was paid twice; the second payment was sent back.',
  replaced: 'Another checkout was opened for this debt.',
  made_good:
    'It made good an earlier payment that was taken back, as far as that was needed; the rest counts.',
  refunded_before_credit: 'The payment was refunded before it was credited.',
  refunded_in_part: 'Part of the payment was refunded, so only the rest counts.',
  refunded_during_hold: 'The payment was refunded while it was held.',
  refunded_after_credit: 'The payment was refunded after it was credited.',
  credit_failed: 'The payment arrived and could not be credited yet.',
  repay_failed: 'The payment arrived and the debt could not be repaid yet.',
  revoke_failed: 'The payment was refunded as its hold ended.',
}

/** Beside any other reason. */
const paidLate = 'It was paid after the checkout closed, so it counts at the rate of that time.'

type Words = { readonly sentence: string; readonly nextAction: NextAction | null }

/** How it stands in each state that a user is shown. */
const standing: Readonly<Record<Exclude<PaymentState, 'opening'>, Words>> = {
  awaiting_payment: { sentence: 'Pay at the checkout before it closes.', nextAction: 'pay' },
  expired: { sentence: 'The checkout is closed.', nextAction: null },
  replaced: { sentence: 'This one is closed.', nextAction: null },
  paid: { sentence: 'The payment arrived and is being put on the chain.', nextAction: 'wait' },
  held: {
    sentence: 'It counts when its hold ends: until then money paid this way can be taken back.',
    nextAction: 'wait',
  },
  credited: { sentence: 'It is part of your collateral.', nextAction: null },
  repaid: { sentence: 'The debt is repaid.', nextAction: null },
  revoking: { sentence: 'What it had brought is being taken back.', nextAction: 'wait' },
  revoked: { sentence: 'What it had brought was taken back.', nextAction: null },
  refunded: { sentence: 'Nothing came of it.', nextAction: null },
  review: {
    sentence: 'A person has to look at it: contact support with the id of this payment.',
    nextAction: 'contact support',
  },
  refunding: { sentence: 'Support is sending back what cannot be used of it.', nextAction: 'wait' },
  accepted: { sentence: 'Support has seen to it.', nextAction: null },
}

const unpaid: Words & { reason: ActivityReason } = {
  reason: 'not_paid_in_time',
  sentence: 'The checkout was not paid in time, and nothing was charged. Open another to pay.',
  nextAction: null,
}

const repaidOnHold: Words = {
  sentence:
    'The debt is repaid; the same amount stays encumbered until the hold ends, because money paid ' +
    'this way can be taken back until then.',
  nextAction: 'wait',
}

/** Why a payment waits that was taken back after its hold, and for nothing else. */
const ofTakenBack: ReadonlySet<Reason> = new Set(['refunded_after_credit', 'revoke_failed'])

/** Of money that was taken back after its hold; `micro` of it (10⁻⁶ AUSD) is missing still. */
const takenBack = (micro: string): Words =>
  micro === '0'
    ? { sentence: 'What was missing for it is made good.', nextAction: null }
    : {
        sentence:
          `${moneyText(micro, 'AUSD')} are missing for it, and your wallet is frozen until they are made ` +
          'good: top up by bank transfer or QR, or contact support.',
        nextAction: 'contact support',
      }

/** The words for a payment in a status as its user is shown it. */
export function wordsFor(
  payment: ListedPayment,
  status: Exclude<PaymentState, 'opening'>,
): Words & { readonly reason?: ActivityReason } {
  const isLate = payment.lateRateMinorPerUsd !== null
  const waits = awaitsRate(payment)
  if (status === 'expired' && !waits) return unpaid
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
  // What is made good is over; whatever else it waits for is not.
  const waitsForMore = missingMicro === '0' && reason !== null && !ofTakenBack.has(reason)
  return waitsForMore ? standing[status] : takenBack(missingMicro)
}
