import { BaseError, HttpRequestError, TimeoutError } from 'viem'
import { BudgetSpent } from '#shared/chain/turns'

/** Blocks from `from` to `to`, both included. */
export type Span = { readonly from: bigint; readonly to: bigint }

/** How to read a span, and a single block that is refused as well. */
export type Reading<T> = {
  readonly read: (span: Span) => Promise<readonly T[]>
  /** Called for a single block that `read` failed for. Omitted: its error is thrown. */
  readonly readOne?: (block: bigint, error: unknown) => Promise<readonly T[]>
  /** Returns whether a smaller range may succeed. Omitted: after every error. */
  readonly mayHalve?: (error: unknown) => boolean
}

/**
 * Reads a span of blocks, oldest first. A range that the endpoint refuses is read in halves, because
 * endpoints limit blocks and results differently and report it differently.
 */
export async function readInHalves<T>(span: Span, reading: Reading<T>): Promise<T[]> {
  const { read, readOne, mayHalve = () => true } = reading
  try {
    return [...(await read(span))]
  } catch (error) {
    if (!mayHalve(error)) throw error
    if (span.from === span.to) {
      if (!readOne) throw error
      return [...(await readOne(span.from, error))]
    }
    const middle = (span.from + span.to) / 2n
    const older = await readInHalves({ from: span.from, to: middle }, reading)
    return [...older, ...(await readInHalves({ from: middle + 1n, to: span.to }, reading))]
  }
}

/** Returns true if the endpoint has responded: it is not down, and has not limited the call rate. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false
  const isAway = (one: unknown) =>
    one instanceof TimeoutError ||
    one instanceof BudgetSpent ||
    (one instanceof HttpRequestError && !(one.status && one.status >= 400 && one.status < 500))
  return error.walk(isAway) === null
}
