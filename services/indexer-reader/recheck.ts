import type { Address } from 'viem'
import type { Database, Tx } from '#shared/db/open'
import { RpcFault } from './chain/rpc'
import type { Span } from './chain/span'
import type { Context } from './context'
import { type Cursor, confirmTo, lockCursor } from './cursor.store'
import { type ChainEvent, walletsOf } from './event'
import { addEvents, eventsBetween, eventsOf } from './event.store'
import { fold, Impossible, type Standing } from './projection'
import { readAgain } from './read'
import { saveStandings } from './record.store'

/** Distance from the head, so that a node with a partial first answer has caught up. */
const depthBlocks = 20
/** Minimum number of blocks worth a request. */
const blocksMin = 20

/**
 * Reads a span again, if possible from another endpoint, because `eth_getLogs` may silently omit
 * logs. Adds missing events and returns true if the span was confirmed. `routine` keeps a distance
 * from the head; `all` goes up to it.
 */
export async function recheck(
  context: Context,
  cursor: Cursor,
  reach: 'routine' | 'all',
): Promise<boolean> {
  const { database, endpoints, figures, log } = context
  const endpoint = endpoints.other()
  const from = cursor.confirmedTo + 1
  const to = Math.min(
    cursor.blockNumber - (reach === 'all' ? 0 : depthBlocks),
    from + endpoint.range().blocks - 1,
  )
  if (to < from || (reach === 'routine' && cursor.blockNumber - from < depthBlocks + blocksMin)) {
    return false
  }
  try {
    const span = await readAgain(context, cursor, endpoint, [from, to])
    const { missing, unseenAgain, broken } = await confirmSpan(database, cursor.generation, span)
    for (const error of broken) log.error({ err: error }, 'events still inconsistent')
    if (missing.length > 0) {
      figures.repaired += missing.length
      log.error({ from, to, missing: missing.length }, 'missing events added')
    }
    if (unseenAgain.length === 0) return true
    figures.disputed += 1
    throw new RpcFault('broken', `the endpoint omitted ${unseenAgain.length} known events`)
  } catch (fault) {
    endpoints.blame(endpoint, fault)
    const { message } = fault as Error
    log.warn({ endpoint: endpoint.host, fault: message, from, to }, 'recheck failed')
    return false
  }
}

type Comparison = { missing: ChainEvent[]; unseenAgain: ChainEvent[]; broken: Impossible[] }

/**
 * Compares the stored events of a span with a second answer. Adds missing events and recomputes
 * their wallets. The span is confirmed unless the second answer lacks stored events.
 */
const confirmSpan = (database: Database, generation: number, span: Span): Promise<Comparison> =>
  database.transaction(async (tx) => {
    // Locked, so that no other reader writes between the fold and its result.
    await lockCursor(tx, generation)
    const stored = await eventsBetween(tx, generation, span.from, span.to)
    const missing = without(span.events, stored)
    const unseenAgain = without(stored, span.events)
    await addEvents(tx, generation, missing)
    const broken = await foldAnew(tx, generation, walletsOf(missing))
    const confirmed = unseenAgain.length === 0 ? span.to : span.from - 1
    await confirmTo(tx, generation, confirmed, missing.length)
    return { missing, unseenAgain, broken }
  })

/** Recomputes wallets; one whose events still have a hole keeps its row until it is filled. */
async function foldAnew(tx: Tx, generation: number, wallets: ReadonlySet<Address>) {
  const broken: Impossible[] = []
  if (wallets.size === 0) return broken
  const standings = new Map<Address, Standing>()
  const all = Map.groupBy(await eventsOf(tx, generation, [...wallets]), ({ wallet }) => wallet)
  for (const [wallet, events] of all) {
    try {
      standings.set(wallet, fold(events))
    } catch (error) {
      if (!(error instanceof Impossible)) throw error
      broken.push(error)
    }
  }
  await saveStandings(tx, generation, standings)
  return broken
}

const keyOf = (event: ChainEvent) => `${event.blockNumber}/${event.logIndex}/${event.txHash}`

const without = (events: readonly ChainEvent[], others: readonly ChainEvent[]): ChainEvent[] => {
  const known = new Set(others.map(keyOf))
  return events.filter((event) => !known.has(keyOf(event)))
}
