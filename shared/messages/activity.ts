import { type Static, Type } from 'typebox'
import { AutoRepaySourceName } from '#shared/messages/credit'
import { Address, AusdAmount, amountOf, Fee, FiatAmount, Hash, Pair, Timestamp } from '#shared/messages/fields'
import type { Form } from '#shared/messages/form'

// Apps branch on these values, so they are never renamed, and a new one comes with a new version of the interface.

export const activityKinds = ['topup', 'settlement', 'cashout', 'send', 'autorepay'] as const

/** Statuses per kind, whose lifecycle the owning service defines. */
export const activityStatuses = {
  topup: [
    'awaiting_payment',
    'expired',
    'paid',
    'held',
    'credited',
    'revoking',
    'revoked',
    'refunded',
    'review',
    'refunding',
    'accepted',
  ],
  settlement: [
    'awaiting_payment',
    'expired',
    'replaced',
    'paid',
    'repaid',
    'revoking',
    'revoked',
    'refunded',
    'review',
    'refunding',
    'accepted',
  ],
  cashout: ['taking', 'taken', 'paying', 'paid', 'failed', 'returning', 'returned'],
  send: ['sending', 'sent', 'failed'],
  autorepay: ['repaying', 'repaid', 'failed', 'needless'],
} as const

export const activityReasons = [
  'not_paid_in_time',
  'paid_late',
  'awaiting_rate',
  'amount_differs',
  'overpaid',
  'currency_differs',
  'sender_unverified',
  'excess_refused',
  'paid_twice',
  'second_refunded',
  'replaced',
  'made_good',
  'refunded_before_credit',
  'refunded_in_part',
  'refunded_during_hold',
  'refunded_after_credit',
  'refund_undone',
  'credit_failed',
  'repay_failed',
  'revoke_failed',
  'authorization_expired',
  'authorization_used',
  'authorization_cancelled',
  'authorization_used_elsewhere',
  'balance_too_low',
  'account_frozen',
  'signature_invalid',
  'gas_budget_spent',
  'content_refused',
  'transfer_refused',
  'allowance_too_low',
  'collateral_too_low',
  'reverted',
  'take_failed',
  'taken_late',
  'account_unknown',
  'name_differs',
  'account_limit',
  'closed_market_limit',
  'limit_of_all',
  'bank_unavailable',
  'bank_refused',
  'bank_reversed',
  'cancelled',
  'compliance',
  'provider_refused',
] as const

export const channelKinds = ['bank', 'qr', 'card', 'ewallet', 'counter', 'paylater', 'direct_debit', 'unknown'] as const

export const nextActions = ['pay', 'wait', 'contact support'] as const

export type ActivityReason = (typeof activityReasons)[number]
export type ChannelKind = (typeof channelKinds)[number]
export type NextAction = (typeof nextActions)[number]

export const Method = Type.Enum(['bank', 'card', 'qr'], {
  says: 'method' satisfies Form,
  title: 'Method',
  description: 'Payment method picked by the user; any method but `card` shows every channel at the checkout.',
})
export const ChannelKindName = Type.Enum([...channelKinds], {
  title: 'ChannelKind',
  description: 'Kind of channel of the payment or payout.',
})

const PaidAccount = Type.Object(
  {
    name: Type.String({ description: 'Name of the bank, or its code while that is unknown.' }),
    lastDigits: Type.String({ description: 'The last four digits of the account number.' }),
  },
  {
    title: 'PaidAccount',
    description: 'Bank account of a cash-out. Absent once its details are erased.',
  },
)
export type PaidAccount = Static<typeof PaidAccount>

const statuses = [...new Set(Object.values(activityStatuses).flat())]

/** An item as apps receive it. */
export const ActivityItem = Type.Object(
  {
    id: Type.String({
      description: '`paymentId`, `payoutId` or `sendId` of the request. An automatic repayment has an id of its own.',
    }),
    kind: Type.Enum([...activityKinds], { title: 'ActivityKind', description: 'Kind of item.' }),
    pair: Type.Optional(Pair),
    fiat: Type.Optional(FiatAmount),
    fee: Type.Optional(Fee),
    rate: Type.Optional(
      amountOf(
        'Rate in the smallest unit of local currency per dollar. Omitted for a send and an automatic repayment.',
      ),
    ),
    ausd: AusdAmount,
    source: Type.Optional(AutoRepaySourceName),
    to: Type.Optional(Address),
    channelCode: Type.Optional(
      Type.String({
        description: "The provider's code of the channel, or of the bank of a cash-out.",
      }),
    ),
    issuer: Type.Optional(
      Type.String({ description: "Bank or wallet that a payment came from, in the provider's words." }),
    ),
    bankReceipt: Type.Optional(
      Type.String({
        description: "Reference of a payment on the payer's own receipt, such as the RRN of a QRIS payment.",
      }),
    ),
    bank: Type.Optional(PaidAccount),
    checkoutUrl: Type.Optional(Type.String({ description: 'Checkout page; present while it can be paid.' })),
    expiresAt: Type.Optional(Timestamp),
    txHash: Type.Optional(Hash),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    status: Type.Enum(statuses, {
      title: 'ActivityStatus',
      description: 'State of the item; the possible states depend on its kind.',
    }),
    nextAction: Type.Union(
      [
        Type.Enum([...nextActions], {
          title: 'NextAction',
          description: '`pay` at `checkoutUrl`, `wait`, or `contact support`.',
        }),
        Type.Null(),
      ],
      { description: 'Next step of the user; null if none is needed.' },
    ),
    sentence: Type.String({
      description: 'Text to show to the user: what happened and what comes next. Its wording may change.',
    }),
    reason: Type.Optional(
      Type.Enum([...activityReasons], {
        title: 'ActivityReason',
        description: 'Why the item deviated from its normal course.',
      }),
    ),
    method: Type.Optional(Method),
    channel: Type.Optional(ChannelKindName),
  },
  { title: 'ActivityItem', description: 'A top-up, settlement, cash-out, send or automatic repayment of the wallet.' },
)

/** An item as its owning service reports it. */
export const ActivityEntry = Type.Object({
  ...ActivityItem.properties,
  /**
   * Sentences by code. The list of codes is open: an earlier gateway shows `sentence` for a code that it does not know.
   */
  texts: Type.Optional(Type.Array(Type.Object({ code: Type.String(), ausd: Type.Optional(AusdAmount) }))),
  /** True while the item is not yet on the chain, or not yet confirmed by the provider. */
  inFlight: Type.Boolean(),
})
export type ActivityEntry = Static<typeof ActivityEntry>

/** Request for a page, newest first; `before` is exclusive in the order (createdAt, id). */
export const ActivityRequest = Type.Object({
  wallet: Address,
  limit: Type.Integer({ minimum: 1, maximum: 101 }),
  before: Type.Optional(Type.Object({ createdAt: Timestamp, id: Type.String() })),
})
export type ActivityRequest = Static<typeof ActivityRequest>

/** One page as `items`, and on any page everything in flight (at most 100) as `inFlight`. */
export const ActivityAnswer = Type.Object({
  items: Type.Array(ActivityEntry),
  inFlight: Type.Array(ActivityEntry),
})
export type ActivityAnswer = Static<typeof ActivityAnswer>

export const ItemRequest = Type.Object({ wallet: Address, id: Type.String() })

/** One item, or null if there is none or another wallet has it. */
export const ItemAnswer = Type.Object({ item: Type.Union([ActivityEntry, Type.Null()]) })
