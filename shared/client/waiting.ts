import { pause } from '#platform/deadline'
import type { GetMe } from '#shared/api/account'
import type { GetActivity, GetActivityItem } from '#shared/api/activity'
import type { RouteAnswer } from '#shared/api/route'
import { isPassing, Refused, Unanswered } from '#shared/client/refusal'

export type Activity = RouteAnswer<typeof GetActivity>
export type Item = Activity['items'][number]

/** Error at the deadline of a wait. The item continues and may be waited for again. */
export class StillInFlight extends Error {
  override name = 'StillInFlight'
  readonly id: string
  readonly item: Item | undefined
  constructor(id: string, item: Item | undefined, waitedMs: number) {
    super(`${id} is ${item ? `still ${item.status}` : 'not listed'} after ${waitedMs} ms`)
    this.id = id
    this.item = item
  }
}

export type Patience = {
  /** Longest wait in ms. The default is ten minutes; an unpaid checkout stays open longer. */
  readonly deadlineMs?: number
  /** Interval between reads in ms. The default is one second. */
  readonly everyMs?: number
  readonly signal?: AbortSignal
  /** Callback for each new status, including the last. */
  readonly onStatus?: (item: Item) => void
}

export type SingleItem = RouteAnswer<typeof GetActivityItem>

/** Time in ms after which a missing id is wrong or another wallet's, because every accepted item is listed at once. */
const listedWithinMs = 30_000

/** Waits until an item is no longer in flight. Throws `StillInFlight` at the deadline. */
export async function waitForItem(
  read: () => Promise<SingleItem>,
  id: string,
  { deadlineMs = 600_000, everyMs = 1_000, signal, onStatus }: Patience = {},
): Promise<SingleItem> {
  const beganAt = performance.now()
  let seen: SingleItem | undefined
  for (;;) {
    const before = seen?.status
    seen = await read().catch(unlessUnknown).catch(unlessPassing(seen))
    if (seen && seen.status !== before) onStatus?.(seen)
    if (seen && !seen.inFlight) return seen
    const waitedMs = performance.now() - beganAt
    const patienceMs = seen ? deadlineMs : Math.min(deadlineMs, listedWithinMs)
    if (waitedMs + everyMs > patienceMs) throw new StillInFlight(id, seen, patienceMs)
    await pause(everyMs, signal)
    endIfAborted(signal)
  }
}

/** Throws the reason of a signal that has fired. React Native has no `throwIfAborted`. */
function endIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw signal.reason ?? new Error('the wait was aborted')
}

export type Me = RouteAnswer<typeof GetMe>

/** Error at the deadline, with `me`, the account as last read. */
export class NotYet extends Error {
  override name = 'NotYet'
  readonly me: Me | undefined
  constructor(me: Me | undefined, waitedMs: number) {
    super(`condition not met after ${waitedMs} ms`)
    this.me = me
  }
}

/** Waits for a condition of the account. Throws `NotYet` at the deadline. */
export async function waitForMe(
  read: () => Promise<Me>,
  isSo: (me: Me) => boolean,
  { deadlineMs = 600_000, everyMs = 1_000, signal }: Omit<Patience, 'onStatus'> = {},
): Promise<Me> {
  const beganAt = performance.now()
  let seen: Me | undefined
  for (;;) {
    seen = await read().catch(unlessPassing(seen))
    if (seen && isSo(seen)) return seen
    const waitedMs = performance.now() - beganAt
    if (waitedMs + everyMs > deadlineMs) throw new NotYet(seen, deadlineMs)
    await pause(everyMs, signal)
    endIfAborted(signal)
  }
}

function unlessUnknown(error: unknown): undefined {
  if (!(error instanceof Refused) || error.refusal.code !== 'not_found') throw error
}

/** Keeps the last result during an outage, so that waiting continues. */
const unlessPassing =
  <T>(last: T) =>
  (error: unknown): T => {
    const passes = error instanceof Unanswered || (error instanceof Refused && isPassing(error.refusal))
    if (passes) return last
    throw error
  }
