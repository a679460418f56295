/** Progress of the chain head as seen by one process. Times are unix milliseconds. */
export type HeadProgress = {
  readonly blockNumber: bigint
  readonly seenAt: number
  /** When a newer block was last seen; undefined before the first. */
  readonly movedAt: number | undefined
}

/** Updates the pace with a block; blocks of a lagging endpoint are ignored. */
export function paceAfter(
  before: HeadProgress | undefined,
  blockNumber: bigint,
  now: number,
): HeadProgress {
  if (!before) return { blockNumber, seenAt: now, movedAt: undefined }
  return blockNumber > before.blockNumber ? { blockNumber, seenAt: now, movedAt: now } : before
}

/**
 * Returns true if no newer block was seen for `stillMs`, or none yet. While the chain is halted, an
 * unmined transaction does not indicate a low fee.
 */
export const stands = ({ movedAt }: HeadProgress, now: number, stillMs: number): boolean =>
  movedAt === undefined || now - movedAt > stillMs
