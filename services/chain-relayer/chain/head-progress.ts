import { isRecent } from '#platform/clock'
import { keptMs } from '#shared/chain/heads'

/** As seen by one process; times in unix ms. */
export type HeadProgress = {
  readonly blockNumber: bigint
  /** When the head last advanced or, before that, was first read. */
  readonly seenAt: number
  readonly hasMoved: boolean
  /** When an endpoint last reported this block. */
  readonly readAt: number
}

/** Ignores the lower blocks of lagging endpoints, unless no endpoint has this one any more. */
export function paceAfter(before: HeadProgress | undefined, blockNumber: bigint, now: number): HeadProgress {
  if (!before) return { blockNumber, seenAt: now, hasMoved: false, readAt: now }
  if (blockNumber > before.blockNumber) return { blockNumber, seenAt: now, hasMoved: true, readAt: now }
  const isLower = blockNumber < before.blockNumber
  if (isLower && isRecent(before.readAt, now, keptMs)) return before
  return { ...before, blockNumber, readAt: now }
}

/** A longer halt raises an alarm. */
export const haltedMs = 30_000

/** While the chain stands still, an unmined transaction says nothing about its fee. */
export const stands = ({ seenAt, hasMoved }: HeadProgress, now: number, stillMs: number): boolean =>
  !hasMoved || now - seenAt > stillMs
