import type { GetMe } from '#shared/api/account'
import type { GetActivity } from '#shared/api/activity'
import type { AnswerOf } from '#shared/api/route'
import { isPassing, Refused, Unanswered } from '#shared/client/refusal'
import { pause } from '#shared/deadline'

/** A page of `GET /me/activity`. */
export type Activity = AnswerOf<typeof GetActivity>
/** One top-up, settlement, cash-out or send, as the list tells it. */
export type Item = Activity['items'][number]

/** It did not end in time: nothing is lost, it goes on, and may be waited for again. */
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
  /** Ten minutes unless given; a checkout that nobody pays stays open for longer. */
  readonly deadlineMs?: number
  /** Pause between two looks; a second unless given. */
  readonly everyMs?: number
  readonly signal?: AbortSignal
  /** Hears of each new status, the last one included. */
  readonly onStatus?: (item: Item) => void
}

/** Reads a page; `cursor` is `nextCursor` of the one before. */
export type ReadPage = (cursor?: string) => Promise<Activity>

/** An item, and whether there is more to come of it. */
type Seen = { readonly item: Item; readonly isInFlight: boolean }

/** Looks for an item, beginning with what is in flight and newest. */
export async function findItem(read: ReadPage, id: string): Promise<Seen | undefined> {
  const first = await read()
  const open = first.inFlight.find((item) => item.id === id)
  if (open) return { item: open, isInFlight: true }
  for (let page = first; ; page = await read(page.nextCursor ?? undefined)) {
    const item = page.items.find((one) => one.id === id)
    if (item) return { item, isInFlight: false }
    if (page.nextCursor === null) return undefined
  }
}

/** An item is listed as soon as its request is answered: what is not after this is of somebody else, or misspelt. */
const listedWithinMs = 30_000

/** Looks again and again until an item is no longer in flight, and answers it. */
export async function waitForItem(
  read: ReadPage,
  id: string,
  { deadlineMs = 600_000, everyMs = 1_000, signal, onStatus }: Patience = {},
): Promise<Item> {
  const beganAt = Date.now()
  let seen: Seen | undefined
  for (;;) {
    const before = seen?.item.status
    seen = await findItem(read, id).catch(unlessPassing(seen))
    if (seen && seen.item.status !== before) onStatus?.(seen.item)
    if (seen && !seen.isInFlight) return seen.item
    const waitedMs = Date.now() - beganAt
    const patienceMs = seen ? deadlineMs : Math.min(deadlineMs, listedWithinMs)
    if (waitedMs + everyMs > patienceMs) throw new StillInFlight(id, seen?.item, patienceMs)
    await pause(everyMs, signal)
    signal?.throwIfAborted()
  }
}

/** The account as `GET /me` tells it. */
export type Me = AnswerOf<typeof GetMe>

/** It did not come to be so in time; the account as it was last seen. */
export class NotYet extends Error {
  override name = 'NotYet'
  readonly me: Me | undefined
  constructor(me: Me | undefined, waitedMs: number) {
    super(`it is not so yet after ${waitedMs} ms`)
    this.me = me
  }
}

/** Looks at the account again and again until it is as awaited. */
export async function waitForMe(
  read: () => Promise<Me>,
  isSo: (me: Me) => boolean,
  { deadlineMs = 600_000, everyMs = 1_000, signal }: Omit<Patience, 'onStatus'> = {},
): Promise<Me> {
  const beganAt = Date.now()
  let seen: Me | undefined
  for (;;) {
    seen = await read().catch(unlessPassing(seen))
    if (seen && isSo(seen)) return seen
    const waitedMs = Date.now() - beganAt
    if (waitedMs + everyMs > deadlineMs) throw new NotYet(seen, deadlineMs)
    await pause(everyMs, signal)
    signal?.throwIfAborted()
  }
}

/** Whoever waits for minutes outlasts a service that is away for one: until then it is as last seen. */
const unlessPassing =
  <T>(last: T) =>
  (error: unknown): T => {
    const passes =
      error instanceof Unanswered || (error instanceof Refused && isPassing(error.refusal))
    if (passes) return last
    throw error
  }
