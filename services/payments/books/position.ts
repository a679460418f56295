import { providerOf } from '#shared/ledger/chart'
import { type Line, type Position, position } from '#shared/ledger/position'
import { keptFloor } from '#shared/ledger/spread'
import { type PaymentFacts, type Reason, remainderFloor, wasGiven } from '../payment'
import type { PaymentRow } from '../payment.store'

// What a payment comes to in the books, from its row alone. Whatever changes the row is booked as the
// difference, so the journal of a payment always says the same as its row.

type Booked = PaymentFacts &
  Pick<PaymentRow, 'account' | 'paidMinor' | 'spreadBps' | 'overpaidRefundedMinor' | 'wonMinor'>

/** The lines of a payment: fiat at the provider, AUSD between treasury, contract and wallet. */
export const positionOf = (payment: Booked): Position =>
  position([...fiatLines(payment), ...ausdLines(payment)])

/** Money that came and was never exchanged: no AUSD is promised for it. */
const unexchanged: ReadonlySet<Reason | null | undefined> = new Set<Reason>([
  'amount_differs',
  'currency_differs',
  'sender_unverified',
])

/** Money for which AUSD was promised at a rate; other money is nobody's until a person decides. */
function isExchanged(payment: Booked): boolean {
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
      // What never got on the chain is not promised any more.
      return wasPromised && wasGiven(payment)
    default:
      return false
  }
}

function fiatLines(payment: Booked): Line[] {
  const { account, currency, fiatMinor, refundedMinor } = payment
  const { overpaidMinor, overpaidRefundedMinor, wonMinor } = payment
  const secondMinor = overpaidMinor - overpaidRefundedMinor
  const heldMinor = ownMinorOf(payment) + secondMinor + wonMinor
  const exchangedMinor =
    isExchanged(payment) && refundedMinor < fiatMinor ? fiatMinor - refundedMinor : 0n
  return [
    { account: providerOf[account], asset: currency, amount: heldMinor },
    { account: 'exchange', asset: currency, amount: -exchangedMinor },
    { account: nobodysOf(payment), asset: currency, amount: exchangedMinor - heldMinor },
  ]
}

/** Money in which nothing is promised waits for a person, or a person decided to leave it here. */
const nobodysOf = ({ state }: Booked) => (state === 'accepted' ? 'capital' : 'suspense')

/** What is there of its own payment. Of another currency than promised nothing: no account has it. */
function ownMinorOf(payment: Booked): bigint {
  const { providerPaymentId, reason, paidMinor, fiatMinor, refundedMinor } = payment
  if (providerPaymentId === null || reason === 'currency_differs') return 0n
  return (paidMinor ?? fiatMinor) - refundedMinor
}

function ausdLines(payment: Booked): Line[] {
  const { liveMicro, offsetMicro, waivedMicro, creditedAt, spreadBps } = payment
  if (!isExchanged(payment)) return []
  const worthMicro = remainderFloor(payment)
  const onChainMicro = creditedAt === null ? 0n : liveMicro
  const promisedMicro = creditedAt === null ? atLeastZero(worthMicro - offsetMicro) : 0n
  // Given, kept or promised beyond what the money is still worth: the wallet owes it.
  const owedMicro = onChainMicro + offsetMicro + promisedMicro - worthMicro - waivedMicro
  // Of late money, too: its worth at the present rate, and the spread of the quote that was taken.
  const keptMicro = keptFloor(worthMicro, spreadBps)
  const lines: [Line['account'], bigint][] = [
    ['exchange', worthMicro + keptMicro],
    ['spread', -keptMicro],
    ['promises', -promisedMicro],
    ['treasury', -onChainMicro],
    ['credit_line', onChainMicro],
    [placeOf(payment), -onChainMicro],
    ['clawback', owedMicro - offsetMicro],
    ['waived', waivedMicro],
  ]
  return lines.map(([account, amount]) => ({ account, asset: 'AUSD', amount }))
}

/** Where the contract keeps it: as collateral or as a repayment, and whether it may be taken back. */
function placeOf({ kind, held, holdEndedAt }: Booked) {
  const mayBeTaken = held === true && holdEndedAt === null
  if (kind === 'topup') return mayBeTaken ? 'collateral_held' : 'collateral'
  return mayBeTaken ? 'repaid_held' : 'repaid'
}

const atLeastZero = (micro: bigint): bigint => (micro > 0n ? micro : 0n)
