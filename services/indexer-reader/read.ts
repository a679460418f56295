import type { Endpoint } from './chain/endpoints'
import { OtherBlocks, RpcFault } from './chain/rpc'
import type { Span } from './chain/span'
import type { Context } from './context'
import { type Cursor, rememberGenesis } from './cursor.store'

/** Consecutive spans, and the fault that ended the batch, if any. */
export type Batch = {
  endpoint: Endpoint
  spans: Span[]
  fault: unknown
  /** The batch reached the head as of its start; the head may have moved since. */
  isLast: boolean
}

/** Where reading resumes; `hash` is null before the first block. */
type Position = { readonly block: number; readonly hash: string | null }

/** Reads on from the cursor, after checking that the endpoint is on the same chain. */
export async function readNext(context: Context, cursor: Cursor): Promise<Batch> {
  const endpoint = context.endpoints.current()
  try {
    await checkGenesis(context, cursor, endpoint)
  } catch (fault) {
    return { endpoint, spans: [], fault, isLast: false }
  }
  return readBatch(endpoint, { block: cursor.blockNumber, hash: cursor.blockHash })
}

/**
 * Reads `from` to `to` after checking that the endpoint is on the same chain; throws `RpcFault`.
 */
export async function readAgain(
  context: Context,
  cursor: Cursor,
  endpoint: Endpoint,
  [from, to]: readonly [from: number, to: number],
): Promise<Span> {
  await checkGenesis(context, cursor, endpoint)
  return endpoint.readSpan(from, to)
}

/** Throws `RpcFault` if the endpoint is not on the chain of this generation. */
async function checkGenesis({ database }: Context, cursor: Cursor, endpoint: Endpoint) {
  const genesis = await endpoint.identify()
  if (cursor.genesisHash === null) {
    await database.run((db) => rememberGenesis(db, cursor.generation, genesis))
  } else if (cursor.genesisHash !== genesis) {
    throw new RpcFault('broken', 'the endpoint is on another chain than the projection: rebuild it')
  }
}

/** Spans read concurrently while far behind; the next are read while these are written. */
const spansMax = 2

/**
 * Reads on from a position to the endpoint's finalized block, at most `spansMax` spans. Requests
 * that block unless it is `known` or was already requested by a failed step.
 */
export async function readBatch(
  endpoint: Endpoint,
  from: Position,
  known?: number,
): Promise<Batch> {
  try {
    const told = known ?? endpoint.unread()
    const head = told > from.block ? told : await endpoint.readFinalized()
    if (head < from.block) {
      throw new RpcFault(
        'behind',
        `the endpoint is finalized to ${head}, behind our block ${from.block}`,
      )
    }
    const tries = await Promise.allSettled(
      plan(from.block + 1, head, endpoint.range().blocks).map(([first, last]) =>
        endpoint.readSpan(first, last),
      ),
    )
    const end = tries.findIndex((one) => one.status === 'rejected')
    const spans = (end < 0 ? tries : tries.slice(0, end)).map(
      (one) => (one as PromiseFulfilledResult<Span>).value,
    )
    const fault = end < 0 ? null : (tries[end] as PromiseRejectedResult).reason
    checkContinuity(from, spans)
    return { endpoint, spans, fault, isLast: (spans.at(-1)?.to ?? from.block) >= head }
  } catch (fault) {
    return { endpoint, spans: [], fault, isLast: false }
  }
}

/** Returns the next spans in order: [first block, last block]. */
export function plan(first: number, head: number, blocks: number): [number, number][] {
  const spans: [number, number][] = []
  for (let next = first; next <= head && spans.length < spansMax; next += blocks) {
    spans.push([next, Math.min(head, next + blocks - 1)])
  }
  return spans
}

/** Throws if a span does not continue our blocks: at finality that means another chain. */
function checkContinuity(from: Position, spans: readonly Span[]): void {
  let parent = from.hash
  for (const span of spans) {
    if (parent !== null && span.parentHash !== parent) {
      throw new OtherBlocks(
        `block ${span.from} of the endpoint does not continue our block ${span.from - 1}`,
      )
    }
    parent = span.hash
  }
}
