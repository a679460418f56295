import type { Item } from '#shared/client/client'
import type { activityStatuses, NextAction } from '#shared/messages/activity'

/** Choices of the list: items that need the user, are in progress, are completed, or ended without an effect. */
export const standings = ['needsYou', 'inProgress', 'done', 'ended'] as const
export type Standing = (typeof standings)[number]

type Statuses = typeof activityStatuses
type OfStatus = Exclude<Standing, 'needsYou'>

const ofPayment = {
  awaiting_payment: 'inProgress',
  expired: 'ended',
  paid: 'inProgress',
  revoking: 'inProgress',
  revoked: 'ended',
  refunded: 'ended',
  review: 'inProgress',
  refunding: 'inProgress',
  accepted: 'done',
} as const

/** Where each status belongs. The compiler refuses a status that is missing. */
const ofStatus: { readonly [K in Item['kind']]: Readonly<Record<Statuses[K][number], OfStatus>> } = {
  topup: { ...ofPayment, held: 'done', credited: 'done' },
  settlement: { ...ofPayment, replaced: 'ended', repaid: 'done' },
  cashout: {
    taking: 'inProgress',
    taken: 'inProgress',
    paying: 'inProgress',
    paid: 'done',
    failed: 'ended',
    returning: 'inProgress',
    returned: 'ended',
  },
  send: { sending: 'inProgress', sent: 'done', failed: 'ended' },
  autorepay: { repaying: 'inProgress', repaid: 'done', failed: 'ended', needless: 'ended' },
}

const isForUser: Readonly<Record<NextAction, boolean>> = { pay: true, wait: false, 'contact support': true }

/**
 * Returns true if an item belongs to a choice of the list. An item that needs the user also belongs where its status does,
 * and a late payment of an expired checkout is in progress again.
 */
export function isOfStanding(
  { kind, status, nextAction }: Pick<Item, 'kind' | 'status' | 'nextAction'>,
  isInFlight: boolean,
  wanted: Standing,
): boolean {
  if (wanted === 'needsYou') return nextAction !== null && isForUser[nextAction]
  const statuses: Readonly<Partial<Record<Item['status'], OfStatus>>> = ofStatus[kind]
  return (isInFlight ? 'inProgress' : statuses[status]) === wanted
}
