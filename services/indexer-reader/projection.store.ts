import { eq } from 'drizzle-orm'
import type { Address } from 'viem'
import type { Database, Tx } from '#shared/db/open'
import { failpoint } from '#shared/failpoint'
import { type Cursor, confirmTo, cursors, moveCursor, promote } from './cursor.store.ts'
import { addEvents, eventsBetween, eventsOf } from './event.store.ts'
import type { ChainEvent } from './event.ts'
import { evolve, fold, Impossible, type Standing, whole } from './projection.ts'
import { loadStandings, saveStandings } from './record.store.ts'
import type { Span } from './span.ts'

/**
 * Events, standings and cursor move together, or not at all. Null if another reader of the same
 * generation was here first. Throws `Impossible` when the events do not follow from what is stored.
 */
export function commitSpans(
  database: Database,
  generation: number,
  spans: readonly Span[],
  at: { caughtUp: boolean; nowMs: number },
): Promise<Cursor | null> {
  const events = spans.flatMap((span) => span.events)
  const step = {
    first: spans[0]!,
    last: spans.at(-1)!,
    events: events.length,
    movedAt: new Date(at.nowMs),
  }
  return database.transaction(async (tx) => {
    const moved = await moveCursor(tx, generation, step)
    if (!moved) return null
    await addEvents(tx, generation, events)
    const standings = await loadStandings(tx, generation, walletsOf(events))
    for (const event of events) {
      standings.set(event.wallet, evolve(standings.get(event.wallet)!, event))
    }
    for (const standing of standings.values()) whole(standing)
    await saveStandings(tx, generation, standings)
    failpoint('indexer-reader:span-written')
    if (moved.state === 'filling' && at.caughtUp) await promote(tx, generation)
    return moved
  })
}

export type SecondLook = { missing: ChainEvent[]; unseenAgain: ChainEvent[]; broken: Impossible[] }

/**
 * Compares what is stored of a span with a second answer. Events that the first answer lacked are
 * added and their wallets folded anew. Only equal answers confirm the span.
 */
export function confirmSpan(
  database: Database,
  generation: number,
  span: Span,
): Promise<SecondLook> {
  return database.transaction(async (tx) => {
    // Locks the cursor: no step of another reader comes between the fold and its writing.
    await tx.select().from(cursors).where(eq(cursors.generation, generation)).for('update')
    const stored = await eventsBetween(tx, generation, span.from, span.to)
    const missing = without(span.events, stored)
    const unseenAgain = without(stored, span.events)
    await addEvents(tx, generation, missing)
    const broken = await foldAnew(tx, generation, walletsOf(missing))
    const confirmed = unseenAgain.length === 0 ? span.to : span.from - 1
    await confirmTo(tx, generation, confirmed, missing.length)
    return { missing, unseenAgain, broken }
  })
}

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

const walletsOf = (events: readonly ChainEvent[]) => new Set(events.map((event) => event.wallet))

const keyOf = (event: ChainEvent) => `${event.blockNumber}/${event.logIndex}/${event.txHash}`

const without = (events: readonly ChainEvent[], others: readonly ChainEvent[]): ChainEvent[] => {
  const known = new Set(others.map(keyOf))
  return events.filter((event) => !known.has(keyOf(event)))
}
