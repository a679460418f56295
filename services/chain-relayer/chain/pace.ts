/** How the newest block moves, as one process has seen it. Times are unix milliseconds. */
export type Pace = {
  readonly blockNumber: bigint
  readonly seenAt: number
  /** When a newer block was last seen; undefined: not yet. */
  readonly movedAt: number | undefined
}

/** The pace once this block was seen. An endpoint that lags behind another moves nothing. */
export function paceAfter(before: Pace | undefined, blockNumber: bigint, now: number): Pace {
  if (!before) return { blockNumber, seenAt: now, movedAt: undefined }
  return blockNumber > before.blockNumber ? { blockNumber, seenAt: now, movedAt: now } : before
}

/**
 * Whether no newer block was seen for so long. A chain nobody has seen move yet stands: a
 * transaction that no block takes there says nothing about its fee.
 */
export const stands = ({ movedAt }: Pace, now: number, stillMs: number): boolean =>
  movedAt === undefined || now - movedAt > stillMs
