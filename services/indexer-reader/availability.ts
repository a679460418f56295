import type { Cursor } from './cursor.store.ts'

/**
 * How far behind the chain an answer would be, in ms: by the time of the block it is from, and by
 * how long ago the cursor last moved, because a chain's clock may run ahead of ours.
 */
export const lagMs = (
  cursor: Pick<Cursor, 'blockTimeSeconds' | 'movedAt'>,
  nowMs: number,
): number =>
  Math.max(0, nowMs - 1_000 * (cursor.blockTimeSeconds + 1), nowMs - cursor.movedAt.getTime())

/** Whether an answer may be given: never from an unfinished projection, never from an old one. */
export const mayAnswer = (
  cursor: Pick<Cursor, 'state' | 'blockTimeSeconds' | 'movedAt'> | undefined,
  lagMaxMs: number,
  nowMs: number,
): boolean => cursor?.state === 'serving' && lagMs(cursor, nowMs) <= lagMaxMs
