import { type Clock, steadyClock } from '#platform/clock'
import { addErrorSuppression, causesOf } from '#platform/error-suppression'
import type { Log } from '#platform/log'

export type Outage = {
  /** Reports a missing response or connection. An outage is logged once a failure has a reason. */
  readonly failed: (error?: unknown) => void
  /** Reports a success, which costs nothing while the dependency is available. */
  readonly works: () => void
  /** Reports that the dependency is certainly available again, even if a call failed a moment ago. */
  readonly back: () => void
}

const stillEveryMs = 60_000
/** Interval in ms between the logged outages of a dependency that flaps. */
const lostEveryMs = 10_000
/** Time in ms after a failure in which a success may be of an earlier call, so that it does not end the outage. */
const settleMs = 1_000
/** Time in ms after an outage in which its errors may still be reported. */
const lateMs = 2_000

/** Logs when an outage begins and ends. Until then, lines with errors that match `ofIt` are lowered to debug. */
export function openOutage(options: {
  name: string
  log: Log
  fields?: Readonly<Record<string, string>>
  ofIt: (error: Error) => boolean
  clock?: Clock
}): Outage {
  const { name, log, fields, ofIt, clock = steadyClock } = options
  let since: number | undefined
  let failedAt = 0
  let backAt = Number.NEGATIVE_INFINITY
  let failures = 0
  let saidAt = Number.NEGATIVE_INFINITY
  let isSaid = false
  const isFresh = () => since !== undefined || clock() - backAt < lateMs
  addErrorSuppression(log, (error) => isFresh() && [...causesOf(error)].some(ofIt))

  const say = (error: unknown) => {
    const now = clock()
    if (isSaid && now - saidAt >= stillEveryMs)
      log.warn({ ...fields, awayMs: now - since!, failures, reason: reasonOf(error) }, `${name} still unavailable`)
    else if (!isSaid && now - saidAt >= lostEveryMs)
      // The error is not logged as `err`, because a suppressed error would lower this line to debug.
      log.warn({ ...fields, reason: reasonOf(error) }, `${name} unavailable`)
    else return
    saidAt = now
    isSaid = true
  }
  const end = () => {
    if (isSaid) log.info({ ...fields, awayMs: clock() - since!, failures }, `${name} available again`)
    since = undefined
    isSaid = false
    failures = 0
    backAt = clock()
  }
  return {
    failed: (error) => {
      failedAt = clock()
      since ??= failedAt
      failures += 1
      if (error !== undefined) say(error)
    },
    works: () => {
      if (since !== undefined && clock() - failedAt >= settleMs) end()
    },
    back: () => {
      if (since !== undefined) end()
    },
  }
}

/** Returns the first line of an error, because library errors append the request after it. */
const reasonOf = (error: unknown): string | undefined =>
  error instanceof Error ? error.message.split('\n')[0] : undefined
