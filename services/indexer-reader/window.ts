import type { Endpoint } from './endpoint.ts'
import { RpcFault } from './rpc-fault.ts'
import type { Span } from './span.ts'

/** Where a generation stands; `hash` is null before its first block. */
export type Foothold = { readonly block: number; readonly hash: string | null }

/** Spans that follow each other without a gap, and the fault that ended them, if one did. */
export type Window = { endpoint: Endpoint; spans: Span[]; fault: unknown }

/** Spans asked for at the same time while far behind; the next are read while these are written. */
const spansMax = 2

/** Reads on from a foothold to the endpoint's finalized block, at most `spansMax` spans of it. */
export async function readWindow(endpoint: Endpoint, from: Foothold): Promise<Window> {
  try {
    const head =
      endpoint.finalized() > from.block ? endpoint.finalized() : await endpoint.readFinalized()
    if (head < from.block) {
      throw new RpcFault('behind', `the endpoint is finalized to ${head}, we have ${from.block}`)
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
    return { endpoint, spans, fault }
  } catch (fault) {
    return { endpoint, spans: [], fault }
  }
}

/** The next spans, in order: [first block, last block]. */
export function plan(first: number, head: number, blocks: number): [number, number][] {
  const spans: [number, number][] = []
  for (let next = first; next <= head && spans.length < spansMax; next += blocks) {
    spans.push([next, Math.min(head, next + blocks - 1)])
  }
  return spans
}

/** Finalized blocks are not undone: a parent that is not ours means another chain, not a rollback. */
export function checkContinuity(from: Foothold, spans: readonly Span[]): void {
  let parent = from.hash
  for (const span of spans) {
    if (parent !== null && span.parentHash !== parent) {
      throw new RpcFault(
        'broken',
        `block ${span.from} of the endpoint does not continue our block ${span.from - 1}`,
      )
    }
    parent = span.hash
  }
}
