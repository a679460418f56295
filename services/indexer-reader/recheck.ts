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

/** A node that answered partially at the head has caught up some blocks later. */
const depthBlocks = 20
/** Fewer blocks are not worth a request. */
const blocksMin = 20

/**
 * Reads once more what was read before, if possible from another endpoint: `eth_getLogs` may leave
 * logs out without saying so. Adds what was missing. True if it confirmed a span. `routine` keeps a
 * distance from the head; `all` goes up to it.
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
    throw new RpcFault(
      'broken',
      `the endpoint left out ${unseenAgain.length} events it should have`,
    )
  } catch (fault) {
    endpoints.blame(endpoint, fault)
    const { message } = fault as Error
    log.warn({ endpoint: endpoint.host, fault: message, from, to }, 'recheck failed')
    return false
  }
}

type Comparison = { missing: ChainEvent[]; unseenAgain: ChainEvent[]; broken: Impossible[] }

/**
 * Compares what is stored of a span with a second answer. Events that the first answer lacked are
 * added and their wallets folded anew. Only equal answers confirm the span.
 */
const confirmSpan = (database: Database, generation: number, span: Span): Promise<Comparison> =>
  database.transaction(async (tx) => {
    // No step of another reader may come between the fold and its writing.
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

/** A wallet whose events still have a hole keeps its row; what fills the hole folds it again. */
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
