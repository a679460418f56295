/** As seen by one process; times in unix ms. */
export type HeadProgress = {
  readonly blockNumber: bigint
  readonly seenAt: number
  readonly movedAt: number | undefined
}

/** Ignores blocks of a lagging endpoint. */
export function paceAfter(
  before: HeadProgress | undefined,
  blockNumber: bigint,
  now: number,
): HeadProgress {
  if (!before) return { blockNumber, seenAt: now, movedAt: undefined }
  return blockNumber > before.blockNumber ? { blockNumber, seenAt: now, movedAt: now } : before
}

/** A chain that stands still for this long has an operator's attention. */
export const haltedMs = 30_000

/** While the chain stands still, an unmined transaction does not indicate a low fee. */
export const stands = ({ movedAt }: HeadProgress, now: number, stillMs: number): boolean =>
  movedAt === undefined || now - movedAt > stillMs
