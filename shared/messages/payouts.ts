import { Type } from 'typebox'
import { ActivityAnswer, ActivityRequest } from '#shared/messages/activity'
import { pauseQuestion } from '#shared/messages/deeds'
import {
  Address,
  Amount,
  AusdAmount,
  Authorization,
  Bank,
  FiatAmount,
  Pair,
  Timestamp,
  Uuid,
} from '#shared/messages/fields'
import { event, question } from '#shared/messages/topic'

/** Checks everything, stores the cash-out and answers at once; taking and paying follow. */
export const CashoutCreate = question('payouts.cashout.create', 'payouts', ['gateway'], {
  request: Type.Object({
    wallet: Address,
    quoteId: Uuid,
    authorization: Authorization,
    bank: Bank,
  }),
  answer: Type.Object(
    { payoutId: Uuid, ausd: AusdAmount, fiat: FiatAmount },
    { title: 'CashoutResult', description: 'What is taken, and what the bank is to be paid.' },
  ),
  repeat: 'once by its key',
})

/** A bank that can be paid: amounts in rupiah of one transfer, and what its account numbers look like. */
export const BankTerms = Type.Object(
  {
    code: Type.String({ description: 'The `channelCode` of a cash-out.' }),
    name: Type.String({ description: 'As the provider calls it.' }),
    min: FiatAmount,
    max: FiatAmount,
    increment: FiatAmount,
    accountNumber: Type.Object(
      {
        digitsMin: Type.Integer({ description: 'So many digits at least.' }),
        digitsMax: Type.Integer({ description: 'So many digits at most.' }),
        pattern: Type.String({ description: 'The same rule as a regular expression.' }),
      },
      { title: 'AccountNumberRule', description: 'What its account numbers look like.' },
    ),
  },
  {
    title: 'BankTerms',
    description:
      'A bank that can be paid: the least and the most rupiah of one transfer, and what every amount ' +
      'is a multiple of.',
  },
)
/** What may be cashed out, and to which banks. Refused: provider_unavailable. */
export const PayoutsTerms = question('payouts.terms', 'payouts', ['gateway'], {
  request: Type.Object({}),
  answer: Type.Object({
    pair: Pair,
    currency: Type.Enum(['IDR'], { description: 'What is paid out: whole rupiah.' }),
    min: FiatAmount,
    dayAusdMax: AusdAmount,
    validBeforeSecondsMin: Type.Integer({
      description: 'How far ahead `validBefore` must be, in seconds.',
    }),
    banks: Type.Array(BankTerms, { description: 'Every bank that may be named.' }),
  }),
  repeat: 'changes nothing',
})

export const PayoutsActivity = question('payouts.activity', 'payouts', ['gateway'], {
  request: ActivityRequest,
  answer: ActivityAnswer,
  repeat: 'changes nothing',
})

/**
 * AUSD (10⁻⁶) in the treasury that is not its own: of every cash-out from its order to take on, until
 * the bank has been paid or the AUSD went back; what went back after `since` included.
 */
export const PayoutsOwed = question('payouts.owed', 'payouts', ['payments'], {
  request: Type.Object({ since: Timestamp }),
  answer: Type.Object({ ausd: Amount }),
  repeat: 'changes nothing',
})

/** New cash-outs are refused while they are paused. */
export const PayoutsPause = pauseQuestion('payouts.pause', 'payouts')

const Fact = Type.Object({ payoutId: Uuid, wallet: Address, fiat: Amount, ausd: Amount })
/** The AUSD is in the treasury, finally. */
export const PayoutTaken = event('payouts.taken', 'payouts', Fact)
/** The provider confirmed the bank transfer. A late reversal may still follow. */
export const PayoutPaid = event('payouts.paid', 'payouts', Fact)
/** The AUSD went back to the user, finally. */
export const PayoutReturned = event('payouts.returned', 'payouts', Fact)
