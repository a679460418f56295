import { type Clock, steadyClock } from '#platform/clock'
import { addErrorSuppression, causesOf } from '#platform/error-suppression'
import type { Log } from '#platform/log'

export type Outage = {
  /** No response, or no connection. */
  readonly failed: (error?: unknown) => void
  /** Costs nothing while the dependency is available. */
  readonly works: () => void
  /** Certainly available again, even if a call failed a moment ago. */
  readonly back: () => void
}

const stillEveryMs = 60_000
/** For a dependency that flaps. */
const lostEveryMs = 10_000
/** A success this soon after a failure may be of an earlier call: it does not end the outage. */
const settleMs = 1_000
/** Errors of the outage may be reported this late. */
const lateMs = 2_000

/** Logs when an outage begins and ends; until then, lines with errors that match `ofIt` are lowered to debug. */
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
      log.warn({ ...fields, awayMs: now - since!, failures }, `${name} still unavailable`)
    else if (!isSaid && now - saidAt >= lostEveryMs)
      // Not as `err`: an excused error would lower this line to debug.
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
      say(error)
    },
    works: () => {
      if (since !== undefined && clock() - failedAt >= settleMs) end()
    },
    back: () => {
      if (since !== undefined) end()
    },
  }
}

/** Library errors append the request after the first line. */
const reasonOf = (error: unknown): string | undefined =>
  error instanceof Error ? error.message.split('\n')[0] : undefined
