import { type Static, Type } from 'typebox'
import { Address, AusdAmount, FiatAmount, Hash, Pair, Timestamp } from '#shared/messages/fields'

// The closed words of a user's activity. An app may branch on each of them: none is ever renamed, and a
// new one is announced by the version of the interface.

export const activityKinds = ['topup', 'settlement', 'cashout', 'send'] as const

/** In which state an item is, by its kind; the lifecycles are its owner's. */
export const activityStatuses = {
  topup: [
    ...['awaiting_payment', 'expired', 'paid', 'held', 'credited'],
    ...['revoking', 'revoked', 'refunded', 'review', 'refunding', 'accepted'],
  ],
  settlement: [
    ...['awaiting_payment', 'expired', 'replaced', 'paid', 'repaid'],
    ...['revoking', 'revoked', 'refunded', 'review', 'refunding', 'accepted'],
  ],
  cashout: ['taking', 'taken', 'paying', 'paid', 'failed', 'returning', 'returned'],
  send: ['sending', 'sent', 'failed'],
} as const

/** Why an item did not go the usual way. */
export const activityReasons = [
  ...['not_paid_in_time', 'paid_late', 'awaiting_rate', 'amount_differs', 'currency_differs'],
  ...[
    'sender_unverified',
    'paid_twice',
    'second_refunded',
    'replaced',
    'made_good',
    'refunded_before_credit',
  ],
  ...['refunded_in_part', 'refunded_during_hold', 'refunded_after_credit'],
  ...['credit_failed', 'repay_failed', 'revoke_failed'],
  ...['authorization_expired', 'authorization_used', 'authorization_cancelled'],
  ...['authorization_used_elsewhere', 'balance_too_low', 'account_frozen', 'signature_invalid'],
  ...['gas_budget_spent', 'content_refused', 'transfer_refused', 'take_failed', 'taken_late'],
  ...['account_unknown', 'name_differs', 'account_limit', 'bank_unavailable', 'bank_refused'],
  ...['bank_reversed', 'cancelled', 'compliance', 'provider_refused'],
] as const

/** What moves the money of a payment, of a cash-out too. */
export const channelKinds = [
  ...['bank', 'qr', 'card', 'ewallet', 'counter', 'paylater', 'direct_debit', 'unknown'],
] as const

/** What the user does about an item; null where the list has none of these: nothing is to be done. */
export const nextActions = ['pay', 'wait', 'contact support'] as const

export type ActivityReason = (typeof activityReasons)[number]
export type ChannelKind = (typeof channelKinds)[number]
export type NextAction = (typeof nextActions)[number]

/** What a user may pick. */
export const Method = Type.Enum(['bank', 'card', 'qr'], {
  says: 'must be bank, card or qr',
  title: 'Method',
  description: 'What the user picked; all but `card` show every channel at the checkout.',
})
/** A kind of channel by its name. */
export const ChannelKindName = Type.Enum([...channelKinds], {
  title: 'ChannelKind',
  description: 'By what kind of channel it was paid, or is paid out.',
})

const common = {
  id: Type.String({ description: '`paymentId`, `payoutId` or `sendId` of the request.' }),
  kind: Type.Enum([...activityKinds], { title: 'ActivityKind', description: 'What it is.' }),
  pair: Type.Optional(Pair),
  fiat: Type.Optional(FiatAmount),
  ausd: AusdAmount,
  to: Type.Optional(Address),
  channelCode: Type.Optional(
    Type.String({
      description: "The provider's own code of the channel, or of the bank of a cash-out.",
    }),
  ),
  checkoutUrl: Type.Optional(
    Type.String({ description: 'Where to pay; there while the checkout can be paid.' }),
  ),
  expiresAt: Type.Optional(Timestamp),
  txHash: Type.Optional(Hash),
  createdAt: Timestamp,
  updatedAt: Timestamp,
}

const statuses = [...new Set(Object.values(activityStatuses).flat())]

/** One line of a user's activity, as the user is shown it. */
export const ActivityItem = Type.Object(
  {
    ...common,
    status: Type.Enum(statuses, {
      title: 'ActivityStatus',
      description: 'In which state it is; which ones there are depends on its kind.',
    }),
    nextAction: Type.Union(
      [
        Type.Enum([...nextActions], {
          title: 'NextAction',
          description: '`pay` at `checkoutUrl`, `wait`, or `contact support`.',
        }),
        Type.Null(),
      ],
      { description: 'What the user does about it; null when nothing is to be done.' },
    ),
    sentence: Type.String({
      description: 'What happened and what comes next, for a person; its wording may change.',
    }),
    reason: Type.Optional(
      Type.Enum([...activityReasons], {
        title: 'ActivityReason',
        description: 'Why it did not go the usual way.',
      }),
    ),
    method: Type.Optional(Method),
    channel: Type.Optional(ChannelKindName),
  },
  { title: 'ActivityItem', description: 'A top-up, settlement, cash-out or send of the wallet.' },
)

/**
 * The same as its owner tells it, whichever service that is. Open where an earlier version of the owner
 * says otherwise: it has no sentence and no next action, its sentence is the reason, and the code of a
 * channel stands in the place of the channel.
 */
export const ActivityEntry = Type.Object({
  ...common,
  /** Not yet onchain, or not yet confirmed by the provider. */
  inFlight: Type.Boolean(),
  status: Type.String(),
  nextAction: Type.Optional(ActivityItem.properties.nextAction),
  sentence: Type.Optional(Type.String()),
  reason: Type.Optional(Type.String()),
  method: Type.Optional(Type.String()),
  channel: Type.Optional(Type.String()),
})

/** What an owner of this version tells. */
export type ToldEntry = Static<typeof ActivityItem> & { readonly inFlight: boolean }

/** Newest first; `before` is exclusive in the order (createdAt, id). */
export const ActivityRequest = Type.Object({
  wallet: Address,
  limit: Type.Integer({ minimum: 1, maximum: 101 }),
  before: Type.Optional(Type.Object({ createdAt: Timestamp, id: Type.String() })),
})

/** `items` is one page; `inFlight` is everything in flight (at most 100), whatever the page. */
export const ActivityAnswer = Type.Object({
  items: Type.Array(ActivityEntry),
  inFlight: Type.Array(ActivityEntry),
})
