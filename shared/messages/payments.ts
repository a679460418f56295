import { Type } from 'typebox'
import { ActivityAnswer, ActivityRequest } from '#shared/messages/activity'
import { Address, Amount, Uuid } from '#shared/messages/fields'
import { event, question } from '#shared/messages/topic'

const PaymentResult = Type.Object({
  paymentId: Type.String(),
  checkoutUrl: Type.String(),
  fiat: Amount,
  ausd: Amount,
})

/** Opens a checkout for a top-up. */
export const TopupCreate = question('payments.topup.create', 'payments', ['gateway'], {
  request: Type.Object({
    wallet: Address,
    amount: Amount,
    method: Type.Enum(['bank', 'card', 'qr']),
    quoteId: Uuid,
  }),
  answer: PaymentResult,
  repeat: 'once by its key',
})

/** Opens a checkout for the whole debt. */
export const SettlementCreate = question('payments.settlement.create', 'payments', ['gateway'], {
  request: Type.Object({ wallet: Address, quoteId: Uuid }),
  answer: PaymentResult,
  repeat: 'once by its key',
})

export const PaymentsActivity = question('payments.activity', 'payments', ['gateway'], {
  request: ActivityRequest,
  answer: ActivityAnswer,
  repeat: 'changes nothing',
})

const Fact = Type.Object({
  paymentId: Type.String(),
  kind: Type.Enum(['topup', 'settlement']),
  wallet: Address,
  fiat: Amount,
  currency: Type.Enum(['IDR', 'MYR']),
  ausd: Amount,
})
/** The provider confirmed that the money arrived. Says nothing about the chain. */
export const PaymentPaid = event('payments.paid', 'payments', Fact)
/** The money is collateral, or the debt is repaid, finally. */
export const PaymentSettled = event('payments.settled', 'payments', Fact)
/** A person has to look: amount, currency or refund do not fit. */
export const PaymentInReview = event('payments.review', 'payments', Fact)
