import { type Clock, systemClock } from '#shared/clock'
import type { Log } from '#shared/log'
import { addExcuse, causesOf } from '#shared/outages/excuses'

/** What the log hears of something this process needs: that it was lost, and that it is back. */
export type Outage = {
  /** It did not answer, or could not be reached. */
  readonly failed: (error?: unknown) => void
  /** It answered. Costs nothing while it is there. */
  readonly works: () => void
  /** It is back for sure, however short a while ago it failed. */
  readonly back: () => void
}

/** While it is away that is said again so often. */
const stillEveryMs = 60_000
/** One that comes and goes is not said to be lost more often. */
const lostEveryMs = 10_000
/** An answer that was under way when it failed does not say that it is back. */
const settleMs = 1_000
/** What failed of it may be told a little after it is back. */
const lateMs = 2_000

/**
 * Tells of an outage: once when it begins, once a minute while it lasts, once when it ends. Errors that
 * are `ofIt` are not told again by whoever met them, until it is back.
 */
export function openOutage(options: {
  /** As people call it: `postgres`. */
  name: string
  log: Log
  fields?: Readonly<Record<string, string>>
  ofIt: (error: Error) => boolean
  clock?: Clock
}): Outage {
  const { name, log, fields, ofIt, clock = systemClock } = options
  let since: number | undefined
  let failedAt = 0
  let backAt = Number.NEGATIVE_INFINITY
  let failures = 0
  /** When it was last said to be lost, or still away. */
  let saidAt = Number.NEGATIVE_INFINITY
  let isSaid = false
  const isFresh = () => since !== undefined || clock() - backAt < lateMs
  addExcuse(log, (error) => isFresh() && [...causesOf(error)].some(ofIt))

  const say = (error: unknown) => {
    const now = clock()
    if (isSaid && now - saidAt >= stillEveryMs)
      log.warn({ ...fields, awayMs: now - since!, failures }, `${name} still away`)
    else if (!isSaid && now - saidAt >= lostEveryMs)
      // Not under `err`: it has an excuse.
      log.warn({ ...fields, reason: reasonOf(error) }, `${name} lost`)
    else return
    saidAt = now
    isSaid = true
  }
  const end = () => {
    if (isSaid) log.info({ ...fields, awayMs: clock() - since!, failures }, `${name} is back`)
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

/** The first line: errors of libraries go on with what they were asked. */
const reasonOf = (error: unknown): string | undefined =>
  error instanceof Error ? error.message.split('\n')[0] : undefined
