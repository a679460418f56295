import { lostMicro, unpaidMicro, waiverOf } from './decide'
import type { Back } from './losses/report'
import { atLeastZero, type BackFacts, beyondCeil, mayBeOnHold, most, type PaymentFacts } from './payment'

/**
 * What has to happen with money that a payment gave or will give. `free`: nothing. `hold`: its hold goes on and keeps it.
 * `extend`: the hold must not end yet. `freeze`: nothing else keeps it, so the wallet is frozen.
 */
export type Stance = 'free' | 'hold' | 'extend' | 'freeze'

/** Where its hold is by the chain's clock. `last`: within the margin before the end, where what is unknown counts as doubt. */
export type HoldPhase = 'early' | 'last' | 'ended'

/** What all reports about its charges say. `unread`: the provider could not be asked. */
export type Reported =
  | 'unread'
  | (Back & { /** Of second charges, as `mayGoMinor`. */ readonly othersMayGoMinor: bigint })

/**
 * Says what has to happen with the money of a payment, in every state: before its order is executed, while the order waits,
 * during its hold and after it. In doubt the money is kept; once the doubt is over it is free. Money that is gone and still
 * on hold is also revoked, which `decide.ts` decides: until that is final, the hold must not end.
 */
export function stanceOf(payment: PaymentFacts & BackFacts, reported: Reported, phase: HoldPhase = 'early'): Stance {
  // guard: a wallet is frozen while money that the chain cannot take back may be going back
  if (!mayBeOnHold(payment)) return reported !== 'unread' && atStakeMicro(payment, reported) > 0n ? 'freeze' : 'free'
  const isClear = isClearOf(payment, reported)
  switch (phase) {
    case 'early':
      // guard: a hold does not end while its money is known to be going back
      return isClear || (reported === 'unread' && payment.state !== 'revoking') ? 'hold' : 'extend'
    case 'last':
      // guard: a hold does not end while its refunds cannot be read
      return isClear ? 'hold' : 'extend'
    case 'ended':
      // guard: a wallet is frozen if its hold ended while its money may be going back
      return isClear ? 'free' : 'freeze'
  }
}

/** Returns true if nothing of it has gone back or may be on its way. */
const isClearOf = ({ state, refundAppliedMinor }: PaymentFacts, reported: Reported): boolean =>
  // guard: a hold does not end before refunded money is revoked
  state !== 'revoking' && reported !== 'unread' && !reported.isOpen && reported.goneMinor === refundAppliedMinor

/**
 * Returns what the wallet would owe beyond its present loss if everything that is open succeeded, or all of it except the
 * refunds that we ordered, whichever is more (10⁻⁶ AUSD). An order that waits counts as executed.
 */
function atStakeMicro(payment: PaymentFacts & BackFacts, reported: Exclude<Reported, 'unread'>): bigint {
  const { mayGoMinor, mayGoOtherwiseMinor, othersMayGoMinor, orderedMinor, orderedOpenMinor } = reported
  const owedMicro = (refundedMinor: bigint, orderedAfterMinor: bigint): bigint => {
    const worst = {
      ...payment,
      // We bear the loss of a refund that we ordered.
      ...waiverOf(payment, orderedMinor, orderedAfterMinor),
      refundedMinor: most(payment.refundedMinor, refundedMinor),
      overpaidRefundedMinor: most(payment.overpaidRefundedMinor, othersMayGoMinor),
    }
    return beyondCeil(worst) + atLeastZero(unpaidMicro(worst) - worst.writtenOffMicro)
  }
  // What we order beyond the payment is our loss.
  const oursMinor = beyondPaid(payment, orderedMinor + orderedOpenMinor) - beyondPaid(payment, orderedMinor)
  const withOrdered = owedMicro(mayGoMinor - oursMinor, orderedMinor + orderedOpenMinor)
  // guard: a charge in doubt freezes the wallet also while we refund it
  return most(withOrdered, owedMicro(mayGoOtherwiseMinor, orderedMinor)) - lostMicro(payment)
}

const beyondPaid = ({ paidMinor, fiatMinor }: BackFacts, minor: bigint): bigint =>
  atLeastZero(minor - (paidMinor ?? fiatMinor))
