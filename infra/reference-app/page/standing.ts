import type { Item } from '#shared/client/client'
import type { activityStatuses, NextAction } from '#shared/messages/activity'

/** What a person asks of a list: what needs me, what is under way, what is done, and what was not to be. */
export const standings = ['needsYou', 'inProgress', 'done', 'ended'] as const
export type Standing = (typeof standings)[number]

type Statuses = typeof activityStatuses
type OfStatus = Exclude<Standing, 'needsYou'>

/** Where each status belongs. The compiler refuses a status that is missing. */
const ofStatus: { readonly [K in Item['kind']]: Readonly<Record<Statuses[K][number], OfStatus>> } = {
  topup: {
    awaiting_payment: 'inProgress',
    expired: 'ended',
    paid: 'inProgress',
    held: 'done',
    credited: 'done',
    revoking: 'inProgress',
    revoked: 'ended',
    refunded: 'ended',
    review: 'inProgress',
    refunding: 'inProgress',
    accepted: 'done',
  },
  settlement: {
    awaiting_payment: 'inProgress',
    expired: 'ended',
    replaced: 'ended',
    paid: 'inProgress',
    repaid: 'done',
    revoking: 'inProgress',
    revoked: 'ended',
    refunded: 'ended',
    review: 'inProgress',
    refunding: 'inProgress',
    accepted: 'done',
  },
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
