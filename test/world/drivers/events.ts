import type { JsonObject } from '#infra/sandbox/json'
import type { Random } from '#infra/sandbox/random'
import type { Event, Share } from '../fates'

// What every driver does for an event of a fate: the share of money that it is about, and the sandbox's control.

/** An event at the provider or the bank. The others are those of the driver: a rest, a wait, an operator. */
export type OutsideEvent = Exclude<Event, { rest: number } | { until: string } | { operator: 'refunds' }>

/** A refund, chargeback or dispute that a fate opened, as a part of the path of its controls: `refunds/rfd-1`. */
export type OpenedPath = string

/** Returns which of the `count` objects that a fate has opened the event moves. */
export const placeOf = (event: OutsideEvent, count: number): number =>
  'of' in event && event.of !== undefined ? event.of : count - 1

export const shareOf = (event: OutsideEvent): Share | undefined =>
  'grow' in event ? event.grow : 'share' in event ? event.share : undefined

/** Draws a share of an amount in minor units, at least one. */
export function minorOfShare(wholeMinor: bigint, share: Share, chance: Random): bigint {
  const [least, most] = typeof share === 'number' ? [share, share] : share
  const part = least + ((most - least) * chance.belowMs(1_000)) / 1_000
  const minor = BigInt(Math.floor(Number(wholeMinor) * part))
  return minor > 0n ? minor : 1n
}

const bankControls = { pays: 'succeed', refuses: 'fail', reverses: 'reverse' } as const

/**
 * Returns the control by which an event happens to the payment or payout `id`. `amount` is the event's share, as the
 * provider writes it. Returns undefined if the event moves what was not opened.
 */
export function controlOf(
  event: OutsideEvent,
  { id, opened, amount }: { id: string; opened: OpenedPath | undefined; amount: number | undefined },
): { readonly path: string; readonly body: JsonObject } | undefined {
  const share = amount === undefined ? {} : { amount }
  if ('bank' in event)
    return { path: `payouts/${id}/${bankControls[event.bank]}`, body: event.as ? { status: event.as } : {} }
  if ('payout' in event) return { path: `payouts/${id}/tell`, body: event.payout }
  if ('show' in event) return { path: `payments/${id}/tell`, body: event.show }
  if ('open' in event) return { path: `payments/${id}/${event.open}`, body: { ...event.body, ...share } }
  if (opened === undefined) return undefined
  if ('tell' in event) return { path: `${opened}/tell`, body: { status: event.tell } }
  if ('end' in event) return { path: `${opened}/${event.end}`, body: {} }
  if ('grow' in event) return { path: opened, body: share }
  return { path: opened, body: { status: event.move, ...share } }
}
