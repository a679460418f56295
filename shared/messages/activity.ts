import { Type } from 'typebox'
import { Address, Amount, Hash, Pair, Timestamp } from '#shared/messages/fields'

export const activityKinds = ['topup', 'settlement', 'cashout', 'send'] as const

/** One line of a user's activity, whichever service owns it. */
export const ActivityEntry = Type.Object({
  id: Type.String(),
  kind: Type.Enum([...activityKinds]),
  status: Type.String(),
  /** Not yet onchain, or not yet confirmed by the provider. */
  inFlight: Type.Boolean(),
  reason: Type.Optional(Type.String()),
  pair: Type.Optional(Pair),
  fiat: Type.Optional(Amount),
  ausd: Amount,
  to: Type.Optional(Address),
  method: Type.Optional(Type.String()),
  channel: Type.Optional(Type.String()),
  checkoutUrl: Type.Optional(Type.String()),
  expiresAt: Type.Optional(Timestamp),
  txHash: Type.Optional(Hash),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})

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
