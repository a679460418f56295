import { isRecent } from '#platform/clock'
import { keptMs } from '#shared/chain/heads'

/** Progress of the chain head as seen by one process, with times in Unix ms. */
export type HeadProgress = {
  readonly blockNumber: bigint
  /** When the head last advanced or, before that, was first read. */
  readonly seenAt: number
  readonly hasMoved: boolean
  /** When an endpoint last reported this block. */
  readonly readAt: number
}

/**
 * Returns the progress after another read. Lower blocks of lagging endpoints are ignored, unless no endpoint has
 * reported the known one for a while.
 */
export function paceAfter(before: HeadProgress | undefined, blockNumber: bigint, now: number): HeadProgress {
  if (!before) return { blockNumber, seenAt: now, hasMoved: false, readAt: now }
  if (blockNumber > before.blockNumber) return { blockNumber, seenAt: now, hasMoved: true, readAt: now }
  const isLower = blockNumber < before.blockNumber
  if (isLower && isRecent(before.readAt, now, keptMs)) return before
  return { ...before, blockNumber, readAt: now }
}

/** Longest normal halt of the chain, in ms; a longer one raises an alert. */
export const haltedMs = 30_000

/** Returns true while the chain stands still: then an unmined transaction shows nothing about its fee. */
export const stands = ({ seenAt, hasMoved }: HeadProgress, now: number, stillMs: number): boolean =>
  !hasMoved || now - seenAt > stillMs
