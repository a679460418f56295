import { providerOf } from '#shared/ledger/chart'
import { type JournalLine, type Position, position } from '#shared/ledger/position'
import { spreadIncomeFloor } from '#shared/ledger/spread'
import {
  atLeastZero,
  beyondCeil,
  beyondMinor,
  earnedFeeFloor,
  type PaymentFacts,
  type Reason,
  remainderFloor,
  wasCredited,
} from '../payment'
import type { PaymentRow } from '../payment.table'

type BookedPayment = PaymentFacts & Pick<PaymentRow, 'account' | 'paidMinor' | 'spreadBps' | 'overpaidRefundedMinor'>

/** Returns the position of a payment: fiat at the provider, and AUSD between treasury, contract and wallet. */
export const positionOf = (payment: BookedPayment): Position => position([...fiatLines(payment), ...ausdLines(payment)])

/** Reasons for which received money is never exchanged, so that no AUSD is promised for it. */
const unexchanged: ReadonlySet<Reason | null | undefined> = new Set<Reason>([
  'amount_differs',
  'currency_differs',
  'sender_unverified',
  'excess_refused',
])

/** Returns true if AUSD is promised for the money. Other money is in suspense until a decision. */
function isExchanged(payment: BookedPayment): boolean {
  const { state, reason, providerPaymentId } = payment
  const wasPromised = providerPaymentId !== null && !unexchanged.has(reason)
  switch (state) {
    case 'paid':
    case 'held':
    case 'credited':
    case 'repaid':
    case 'revoking':
    case 'revoked':
      return true
    case 'review':
    case 'refunding':
      return wasPromised
    case 'accepted':
      // AUSD that never reached the chain is no longer promised once an operator accepts the payment.
      return wasPromised && wasCredited(payment)
    default:
      return false
  }
}

function fiatLines(payment: BookedPayment): JournalLine[] {
  const { account, currency, fiatMinor, refundedMinor } = payment
  const { overpaidMinor, overpaidRefundedMinor } = payment
  const secondMinor = overpaidMinor - overpaidRefundedMinor
  const heldMinor = ownMinorOf(payment) + secondMinor
  const leftMinor = isExchanged(payment) ? atLeastZero(fiatMinor - refundedMinor) : 0n
  // Money that went back beyond the payment was exchanged for a claim on the wallet.
  const exchangedMinor = leftMinor - beyondMinor(payment)
  // The fee goes back with the money, in proportion.
  // guard: a refund gives back its part of the fee
  const earnedMinor = isExchanged(payment) ? earnedFeeFloor(payment) : 0n
  return [
    { account: providerOf[account], asset: currency, amount: heldMinor },
    { account: 'exchange', asset: currency, amount: earnedMinor - exchangedMinor },
    { account: 'fees_earned', asset: currency, amount: -earnedMinor },
    { account: nobodysOf(payment), asset: currency, amount: exchangedMinor - heldMinor },
  ]
}

/** Returns the account of money without a promise: `suspense`, or `capital` once an operator has accepted it. */
const nobodysOf = ({ state }: BookedPayment) => (state === 'accepted' ? 'capital' : 'suspense')

/**
 * Returns what is left of the payment's own charge, in the currency's smallest unit; 0 for another currency,
 * which no account holds.
 */
function ownMinorOf(payment: BookedPayment): bigint {
  const { providerPaymentId, reason, paidMinor, fiatMinor, refundedMinor } = payment
  if (providerPaymentId === null || reason === 'currency_differs') return 0n
  return (paidMinor ?? fiatMinor) - refundedMinor
}

function ausdLines(payment: BookedPayment): JournalLine[] {
  const { onchainMicro, recoveredMicro, writtenOffMicro, creditedAt, spreadBps } = payment
  const beyondMicro = beyondCeil(payment)
  const claim = ausd([
    ['exchange', -beyondMicro],
    ['clawback', beyondMicro],
  ])
  if (!isExchanged(payment)) return claim
  const worthMicro = remainderFloor(payment)
  const creditedMicro = creditedAt === null ? 0n : onchainMicro
  // An order that waits also gives the AUSD of refunds that were waived since.
  const promisedMicro = creditedAt === null ? atLeastZero(worthMicro + writtenOffMicro - recoveredMicro) : 0n
  // The wallet owes the AUSD that was credited, kept or promised beyond the current value of the money.
  const owedMicro = creditedMicro + recoveredMicro + promisedMicro - worthMicro - writtenOffMicro
  // The spread income also counts late money, by its value at the current rate and the spread of its quote.
  const keptMicro = spreadIncomeFloor(worthMicro, spreadBps)
  const lines = ausd([
    ['exchange', worthMicro + keptMicro],
    ['spread', -keptMicro],
    ['promises', -promisedMicro],
    ['treasury', -creditedMicro],
    ['credit_line', creditedMicro],
    [placeOf(payment), -creditedMicro],
    ['clawback', owedMicro - recoveredMicro],
    ['waived', writtenOffMicro],
  ])
  return [...claim, ...lines]
}

const ausd = (lines: readonly [JournalLine['account'], bigint][]): JournalLine[] =>
  lines.map(([account, amount]) => ({ account, asset: 'AUSD', amount }))

function placeOf({ kind, held, holdEndedAt }: BookedPayment) {
  const mayBeTaken = held === true && holdEndedAt === null
  if (kind === 'topup') return mayBeTaken ? 'collateral_held' : 'collateral'
  return mayBeTaken ? 'repaid_held' : 'repaid'
}
