import { BaseError, HttpRequestError, TimeoutError } from 'viem'
import { BudgetExhausted } from '#shared/chain/turns'

/** A range of blocks with both ends included. */
export type BlockSpan = { readonly from: bigint; readonly to: bigint }

export type SpanReader<T> = {
  readonly read: (span: BlockSpan) => Promise<readonly T[]>
  /** Reads a single block for which `read` failed. Without it, the error of `read` is thrown. */
  readonly readOne?: (block: bigint, error: unknown) => Promise<readonly T[]>
  /** Returns true if the range may be read in halves after this error. Without it, every error allows that. */
  readonly mayHalve?: (error: unknown, span: BlockSpan) => boolean
}

/**
 * Reads a range of blocks, oldest first. Endpoints limit blocks and results differently, so a refused range is read in
 * halves.
 */
export async function readInHalves<T>(span: BlockSpan, reading: SpanReader<T>): Promise<T[]> {
  const { read, readOne, mayHalve = () => true } = reading
  try {
    return [...(await read(span))]
  } catch (error) {
    if (!mayHalve(error, span)) throw error
    if (span.from === span.to) {
      if (!readOne) throw error
      return [...(await readOne(span.from, error))]
    }
    const middle = (span.from + span.to) / 2n
    const older = await readInHalves({ from: span.from, to: middle }, reading)
    return [...older, ...(await readInHalves({ from: middle + 1n, to: span.to }, reading))]
  }
}

/** Returns true if the endpoint refused the request, and is neither down nor limiting the rate. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false
  const isAway = (one: unknown) =>
    one instanceof TimeoutError ||
    one instanceof BudgetExhausted ||
    (one instanceof HttpRequestError && !(one.status && one.status >= 400 && one.status < 500))
  return error.walk(isAway) === null
}
