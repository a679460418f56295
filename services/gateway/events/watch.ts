import type { Log } from '#platform/log'
import { idle, startLoop } from '#platform/loop'
import type { SsePush } from '../http/sse'

/**
 * Intervals of looks at a wallet, in ms: while an item is in flight, and until one begins. The gateway does not subscribe
 * to the events of other services, because whoever may answer requests could then confirm an event in place of JetStream.
 */
const busyMs = 2_000
export const idleMs = 15_000

/** The state of a wallet at one look. */
export type Look = {
  /** Changes with everything that `GET /me` and `GET /me/activity` show. */
  readonly tag: string
  readonly isInFlight: boolean
}

/** Looks of a stream at its wallet. `poke` makes the next one come at once. */
export type Watch = { readonly poke: () => void; readonly end: () => void }

/** Pushes `changed` whenever a look finds another state than `tag`. */
export function watch(
  { look, push, log }: { readonly look: () => Promise<Look>; readonly push: SsePush; readonly log: Log },
  first: Look,
  tag: string | null,
): Watch {
  let last = tag
  let next: Promise<Look> | undefined = Promise.resolve(first)
  const work = async () => {
    // An outage is reported where it is noticed; the next look tries again.
    const seen = await (next ?? look()).catch(() => undefined)
    next = undefined
    if (!seen) return undefined
    if (seen.tag !== last) push('changed', {}, seen.tag)
    last = seen.tag
    return seen.isInFlight ? undefined : idle
  }
  const loop = startLoop({ name: 'events of a wallet', everyMs: busyMs, idleMs, log, work })
  return { poke: loop.poke, end: () => void loop[Symbol.asyncDispose]() }
}
