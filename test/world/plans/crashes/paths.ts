import { fields } from '../../../../services/chain-relayer/config'
import { refusedAccount } from '../../../support/requests'
import { type Fate, fateOf, plain } from '../../fates'
import { type ItemFault, itemFaults } from '../../faults'
import { autoRepay, cashout, type Plan, send, settlement, topup } from '../../people'
import {
  atTheBank,
  checkedOut,
  credited,
  delivered,
  givenBack,
  heldToTheEnd,
  onChain,
  relayed,
  repaid,
  taken,
  toppedUp,
} from './boundaries'
import { listFirst, type Terms } from './terms'

export const kinds = ['topup', 'settlement', 'cashout', 'refund', 'send', 'autorepay', 'drip', 'identity'] as const

/** A plan with its fate, and the boundaries that it passes. */
export type Path = {
  readonly kind: (typeof kinds)[number]
  readonly name: string
  readonly terms?: Terms
  readonly plan: Plan
  readonly fate?: Fate
  /** Fault that goes on while the item is played. */
  readonly during?: ItemFault
  /** True if each item has a user of its own. */
  readonly byNewUsers?: true
  /** True if the kills are armed before the fate, which begins once the item has its first status. */
  readonly armsAtFate?: true
  /** Pairs to try: all of them, or those with one of these boundaries. */
  readonly inPairs?: 'all' | readonly string[]
  /** Boundaries, roughly in the order in which they are passed. */
  readonly boundaries: readonly string[]
}

const byCard = topup({ channel: 'CARDS' })
const returned = cashout({ accountNumber: refusedAccount })
const dripWei = BigInt(fields.DRIP_WEI.fallback!)

/** Refunds a payment once it has this status. */
const refundedOnce = (status: string, ends: readonly string[]): Fate => ({
  ...fateOf('refunded'),
  name: `refunded once ${status}`,
  events: [{ until: status }, { open: 'refund' }],
  requires: { money: 'gone', ends },
})
const byOperator: Fate = {
  ...fateOf('refunded by an operator'),
  requires: { money: 'gone', ends: ['refunded'], askedOnce: true },
}

const told = [...toppedUp, ...delivered('payments'), ...credited]
const settled = [...checkedOut(), ...delivered('payments'), ...repaid]
const sent = ['gateway:order-read', 'gateway:order-answered', ...onChain]
const verified = [
  'gateway:identity-decided',
  'gateway:drip-ordered',
  'gateway:published:identity.decided',
  ...relayed('gateway', 'verify', onChain),
  ...relayed('gateway', 'drip'),
]

export const paths: readonly Path[] = [
  { kind: 'topup', name: 'top-up by QR', plan: topup(), boundaries: told },
  { kind: 'topup', name: 'top-up by card, held', plan: byCard, boundaries: [...told, ...heldToTheEnd] },
  {
    kind: 'topup',
    name: 'top-up with an extended hold',
    plan: byCard,
    during: itemFaults.silentUntilExtended,
    boundaries: ['payments:extension-ordered', ...relayed('payments', 'extend'), ...heldToTheEnd],
  },
  {
    kind: 'topup',
    name: 'top-up without webhooks',
    plan: topup(),
    during: itemFaults.webhooksLost,
    boundaries: [...toppedUp, 'payments:row-of-list-received', ...credited],
  },
  {
    kind: 'topup',
    name: 'top-up found by polling',
    plan: topup(),
    during: itemFaults.webhooksAndListLost,
    boundaries: [...toppedUp, 'payments:payment-found', 'payments:paid-committed', ...credited],
  },
  { kind: 'settlement', name: 'settlement by bank', inPairs: 'all', plan: settlement(), boundaries: settled },
  {
    kind: 'settlement',
    name: 'settlement by card, held',
    inPairs: heldToTheEnd,
    plan: settlement({ channel: 'CARDS' }),
    boundaries: [...settled, ...heldToTheEnd],
  },
  {
    kind: 'settlement',
    name: 'settlement that replaces another',
    plan: settlement({ drawAgainMicro: 1_000_000n }),
    byNewUsers: true, // A wallet may leave at most ten checkouts unpaid in an hour.
    boundaries: [
      ...checkedOut(['payments:checkout-ended', 'payments:checkout-end-stored']),
      ...delivered('payments'),
      ...repaid,
    ],
  },
  {
    kind: 'cashout',
    name: 'cash-out paid',
    inPairs: 'all',
    plan: cashout(),
    boundaries: [...taken, ...atTheBank, ...delivered('payouts'), 'payouts:published:payouts.paid'],
  },
  {
    kind: 'cashout',
    name: 'cash-out returned',
    inPairs: givenBack,
    plan: returned,
    boundaries: [...taken, ...atTheBank, ...delivered('payouts'), ...givenBack],
  },
  {
    kind: 'cashout',
    name: 'cash-out without webhooks',
    plan: returned,
    during: itemFaults.webhooksLost,
    boundaries: [...taken, ...atTheBank, 'payouts:payout-found', 'payouts:return-ordered', ...givenBack],
  },
  {
    kind: 'cashout',
    name: 'cash-out without a response',
    plan: cashout(),
    during: itemFaults.orderUnanswered,
    boundaries: ['payouts:before-provider', 'payouts:payout-looked-up', 'payouts:status-committed'],
  },
  {
    kind: 'cashout',
    name: 'cash-out found in the list',
    terms: listFirst,
    plan: returned,
    during: itemFaults.webhooksLost,
    boundaries: [...atTheBank, 'payouts:row-of-list-received', ...givenBack],
  },
  {
    kind: 'refund',
    name: 'refund within the hold',
    terms: { holdSeconds: 30 }, // The hold is longer than a restart; a later refund freezes the wallet.
    plan: byCard,
    fate: refundedOnce('held', ['revoked']),
    boundaries: [
      ...toppedUp,
      ...delivered('payments'),
      ...relayed('payments', 'credit', onChain),
      ...relayed('payments', 'revoke'),
    ],
  },
  {
    kind: 'refund',
    name: 'refund after the credit',
    plan: topup(),
    fate: refundedOnce('credited', ['review']),
    armsAtFate: true,
    byNewUsers: true, // The refund freezes the wallet.
    boundaries: [
      ...delivered('payments'),
      'payments:published:payments.review',
      ...relayed('payments', 'freeze', onChain),
    ],
  },
  {
    kind: 'refund',
    name: 'refund by an operator',
    plan: topup({ channel: 'DANA', pays: 'too little' }),
    fate: byOperator,
    armsAtFate: true,
    boundaries: [
      'payments:refund-decided',
      'payments:refund-ordered',
      'payments:before-refund',
      'payments:refund-answered',
      'payments:refund-learned',
      ...delivered('payments'),
    ],
  },
  {
    kind: 'send',
    name: 'send',
    plan: send(),
    boundaries: [...sent, 'chain-relayer:published:relay.send.settled'],
  },
  {
    kind: 'send',
    name: 'send with a raised fee',
    plan: send(),
    during: itemFaults.feeRefusedUntilRaised,
    boundaries: [...sent, 'chain-relayer:attempt-stored'],
  },
  ...(['wallet', 'collateral'] as const).map(
    (source): Path => ({
      kind: 'autorepay',
      name: `automatic repayment, ${source}`,
      terms: { termSeconds: 16 },
      plan: autoRepay(source),
      boundaries: [
        'gateway:repayment-ordered',
        ...relayed('gateway', 'autorepay', onChain),
        'gateway:published:credit.autorepay',
      ],
    }),
  ),
  {
    kind: 'drip',
    name: 'verification and drip',
    plan: { kind: 'verification', begins: false, dripWei },
    byNewUsers: true,
    boundaries: [
      'gateway:delivery-verified',
      'gateway:delivery-recorded',
      'gateway:took:webhooks.identity.>',
      ...verified,
    ],
  },
  {
    kind: 'identity',
    name: 'verification without its webhook',
    plan: { kind: 'verification', begins: true, dripWei },
    during: itemFaults.webhooksLost,
    byNewUsers: true,
    boundaries: ['gateway:identity-found', ...verified],
  },
]

export const fateOfPath = ({ fate = plain }: Path): Fate => fate
