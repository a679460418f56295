import { Type } from 'typebox'
import { ActivityAnswer, ActivityRequest } from '#shared/messages/activity'
import { Address, Amount, Authorization, Bank, Timestamp, Uuid } from '#shared/messages/fields'
import { event, question } from '#shared/messages/topic'

/** Checks everything, stores the cash-out and answers at once; taking and paying follow. */
export const CashoutCreate = question('payouts.cashout.create', 'payouts', ['gateway'], {
  request: Type.Object({
    wallet: Address,
    quoteId: Uuid,
    authorization: Authorization,
    bank: Bank,
  }),
  answer: Type.Object({ payoutId: Uuid, ausd: Amount, fiat: Amount }),
  repeat: 'once by its key',
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

const Fact = Type.Object({ payoutId: Uuid, wallet: Address, fiat: Amount, ausd: Amount })
/** The AUSD is in the treasury, finally. */
export const PayoutTaken = event('payouts.taken', 'payouts', Fact)
/** The provider confirmed the bank transfer. A late reversal may still follow. */
export const PayoutPaid = event('payouts.paid', 'payouts', Fact)
/** The AUSD went back to the user, finally. */
export const PayoutReturned = event('payouts.returned', 'payouts', Fact)
