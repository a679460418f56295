import type { Database } from '#platform/db/open'
import type { Endpoint } from './chain/endpoints'
import type { FinalizedHead } from './chain/head'
import { RpcFault } from './chain/rpc'
import type { LogSpan } from './chain/span'
import { type GenerationCursor, rememberGenesis } from './cursor.store'
import { type ChainEvent, sequenceOf } from './event'
import { Incomplete } from './projection'

/** Compares the genesis hash with that of the generation. Throws `RpcFault` if the endpoint is on another chain. */
export async function checkGenesis(database: Database, cursor: GenerationCursor, endpoint: Endpoint) {
  const genesis = await endpoint.identify()
  if (cursor.genesisHash === null) {
    await database.run((db) => rememberGenesis(db, cursor.generation, genesis))
  } else if (cursor.genesisHash !== genesis) {
    throw new RpcFault('broken', 'the endpoint is on another chain than the projection: rebuild it')
  }
}

/** Most spans read at a time; the next ones are read while these are written. */
const spansMax = 2

/** Reads the next spans. Throws if the first of them fails. */
export async function readSpans(endpoint: Endpoint, from: number, head: FinalizedHead): Promise<LogSpan> {
  const tries = await Promise.allSettled(
    plan(from, head.block, endpoint.range().blocks).map(([first, last]) => endpoint.readSpan(first, last, head)),
  )
  const events: ChainEvent[] = []
  let to = from - 1
  for (const one of tries) {
    if (one.status === 'rejected') {
      if (to < from) throw one.reason
      break
    }
    events.push(...one.value.events)
    to = one.value.to
  }
  return { from, to, events }
}

export function plan(first: number, head: number, blocks: number): [number, number][] {
  const spans: [number, number][] = []
  for (let next = first; next <= head && spans.length < spansMax; next += blocks) {
    spans.push([next, Math.min(head, next + blocks - 1)])
  }
  return spans
}

/** Returns the events after `sequence`. Throws `Incomplete` if one of them is missing. */
export function continuing(sequence: number, events: readonly ChainEvent[]): ChainEvent[] {
  const fresh = events.filter((event) => sequenceOf(event) > sequence)
  for (const [index, event] of fresh.entries()) {
    const expected = sequence + 1 + index
    if (sequenceOf(event) !== expected) throw new Incomplete(`event ${expected} is missing`)
  }
  return fresh
}
