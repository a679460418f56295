import type { Log } from '#platform/log'
import { idle, startLoop } from '#platform/loop'
import type { SsePush } from '../http/sse'

/**
 * Intervals of looks at a wallet, in ms: while an item is in flight, and otherwise. The gateway does not subscribe to
 * the events of other services, because whoever may answer requests could then confirm an event in place of JetStream.
 */
const busyMs = 2_000
const idleMs = 15_000

/** The state of a wallet at one look. */
export type Look = {
  /** Changes with everything that `GET /me` and `GET /me/activity` show. */
  readonly tag: string
  readonly isInFlight: boolean
}

/** Pushes `changed` whenever a look finds another state than `tag`. Returns a function that ends it. */
export function watch(
  { look, push, log }: { readonly look: () => Promise<Look>; readonly push: SsePush; readonly log: Log },
  first: Look,
  tag: string | null,
): () => void {
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
  return () => void loop[Symbol.asyncDispose]()
}
