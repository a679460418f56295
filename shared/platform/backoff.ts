/** Most doublings; more exceed any maximum, and with some thousand a number is infinite. */
export const doublingsMax = 30

/** Bounds of waits in ms: the wait before the first try again, and the longest one. */
export type Backoff<Max = number> = { readonly firstMs: number; readonly maxMs: Max }

/** Returns the wait in ms before the next try, which doubles with each failure. */
export const backoffMs = ({ firstMs, maxMs }: Backoff, failures: number): number =>
  Math.min(maxMs, firstMs * 2 ** Math.min(failures, doublingsMax))
