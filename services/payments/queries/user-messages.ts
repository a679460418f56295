import { sentenceOf, type TextRef } from '#shared/language/catalogue'
import type { ActivityReason, NextAction } from '#shared/messages/activity'
import { awaitsRate, isOnHold, type PaymentState, type Reason, states } from '../payment'
import type { ListedPayment } from './activity.store'

type UserMessage = { readonly texts: readonly TextRef[]; readonly nextAction: NextAction | null }
type Status = Exclude<PaymentState, 'opening'>

const messageAbout = (status: Status): UserMessage => ({
  texts: [{ code: `payment.${status}` }],
  nextAction: states[status].nextAction,
})

const unconfirmed: UserMessage = { texts: [{ code: 'payment.unconfirmed' }], nextAction: 'wait' }

const unpaid: UserMessage & { reason: ActivityReason } = {
  reason: 'not_paid_in_time',
  texts: [{ code: 'payment.unpaid' }, { code: 'payment.nothing_charged' }],
  nextAction: null,
}

const cancelled: UserMessage & { reason: ActivityReason } = {
  reason: 'cancelled',
  texts: [{ code: 'payment.reason.cancelled' }, { code: 'payment.nothing_charged' }],
  nextAction: null,
}

const repaidOnHold: UserMessage = {
  texts: [{ code: 'payment.repaid_on_hold' }],
  nextAction: 'wait',
}

/** A credited top-up is refunded as a whole: its user has given the AUSD back. */
const refundingCredited: UserMessage = {
  texts: [{ code: 'payment.refunding_credited' }],
  nextAction: states.refunding.nextAction,
}

/** Reasons of a credited payment of which only money beyond it is refunded. */
const ofMoneyBeyond: ReadonlySet<Reason> = new Set(['paid_twice', 'overpaid', 'refunded_after_credit'])

const isWhole = ({ kind, creditedAt, reason }: ListedPayment): boolean =>
  kind === 'topup' && creditedAt !== null && (reason === null || !ofMoneyBeyond.has(reason))

/** Reasons for review that end once the reversal is repaid. */
const ofTakenBack: ReadonlySet<Reason> = new Set(['refunded_after_credit', 'revoke_failed'])

/** Returns the message about a reversed payment of which `micro` (10⁻⁶ AUSD) is still owed. */
const takenBack = (micro: string): UserMessage =>
  micro === '0'
    ? { texts: [{ code: 'payment.nothing_owed' }], nextAction: null }
    : { texts: [{ code: 'payment.owed', ausd: micro }], nextAction: 'contact support' }

export function userMessages(payment: ListedPayment, status: Status) {
  const { texts, nextAction, ...why } = messageAt(payment, status)
  return { ...why, ...sentenceOf(texts), nextAction }
}

function messageAt(payment: ListedPayment, status: Status): UserMessage & { readonly reason?: ActivityReason } {
  const isLate = payment.lateRateMinorPerUsd !== null
  const waits = awaitsRate(payment)
  // The checkout is past its end, but the provider has not been asked yet how it ended.
  if (status === 'expired' && payment.state === 'awaiting_payment') return unconfirmed
  if (status === 'expired' && !waits) return payment.reason === 'cancelled' ? cancelled : unpaid
  const { texts, nextAction } = messageOf(payment, status)
  const reason = payment.reason ?? (isLate ? 'paid_late' : undefined)
  const why: readonly TextRef[] = payment.reason ? [{ code: `payment.reason.${payment.reason}` }] : []
  const late: readonly TextRef[] = isLate ? [{ code: 'payment.paid_late' }] : []
  return {
    ...(reason ? { reason } : {}),
    texts: [...why, ...late, ...(waits ? [] : texts)],
    nextAction: waits ? 'wait' : nextAction,
  }
}

function messageOf(payment: ListedPayment, status: Status): UserMessage {
  const { texts, nextAction } = messageOfState(payment, status)
  if (payment.lostHold !== 'frozen') return { texts, nextAction }
  return { texts: [...texts, { code: 'payment.in_doubt' }], nextAction: nextAction ?? 'wait' }
}

function messageOfState(payment: ListedPayment, status: Status): UserMessage {
  if (status === 'repaid' && isOnHold(payment)) return repaidOnHold
  if (status === 'refunding' && isWhole(payment)) return refundingCredited
  const { missingMicro, reason } = payment
  if (status !== 'review' || missingMicro === null) return messageAbout(status)
  // A repaid reversal needs no review; any other reason still does.
  const waitsForMore = missingMicro === '0' && reason !== null && !ofTakenBack.has(reason)
  return waitsForMore ? messageAbout(status) : takenBack(missingMicro)
}
