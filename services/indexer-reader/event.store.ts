import { and, asc, eq, inArray, max, sql } from 'drizzle-orm'
import { bigint, index, integer, jsonb, primaryKey, text } from 'drizzle-orm/pg-core'
import { addressColumn } from '#platform/db/columns'
import { type Database, type Db, sendAhead, type Tx } from '#platform/db/open'
import { cursors, type ProjectionOrigin, servingOf } from './cursor.store'
import type { ChainEvent, EventName } from './event'
import { schema } from './schema.store'

export const events = schema.table(
  'events',
  {
    generation: integer('generation').notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    logIndex: integer('log_index').notNull(),
    wallet: addressColumn('wallet').notNull(),
    name: text('name').notNull(),
    args: jsonb('args').notNull(),
    txHash: text('tx_hash').notNull(),
    atSeconds: bigint('at_seconds', { mode: 'number' }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.generation, table.blockNumber, table.logIndex] }),
    index('events_by_wallet').on(table.generation, table.wallet),
  ],
)

/**
 * Stores events together with the next statement or the commit, as lists, because one parameter per value could exceed the limit
 * of 65,535.
 */
export function addEvents(tx: Tx, generation: number, followed: readonly ChainEvent[]): void {
  const rows = followed.filter(({ wallet }) => wallet !== null)
  if (rows.length === 0) return
  const list = (pick: (row: ChainEvent) => string | number | null) => sql.param(rows.map(pick))
  const adding = sql`
    insert into ${events}
      (generation, block_number, log_index, wallet, name, args, tx_hash, at_seconds)
    select ${generation}, r.*
    from unnest(
      ${list((row) => row.blockNumber)}::bigint[], ${list((row) => row.logIndex)}::int[],
      ${list((row) => row.wallet)}::text[], ${list((row) => row.name)}::text[],
      ${list((row) => JSON.stringify(row.args))}::jsonb[], ${list((row) => row.txHash)}::text[],
      ${list((row) => row.atSeconds)}::bigint[]) as r`
  sendAhead(tx, adding)
}

/**
 * Reads the events of a wallet, oldest first, and the cursor in one statement. Returns undefined while no generation of
 * this origin serves.
 */
export async function findAccountEvents(
  database: Database,
  origin: ProjectionOrigin,
  wallet: `0x${string}`,
  { names, eventsMax }: { names: readonly EventName[]; eventsMax: number },
) {
  const { generation, name, args, txHash, atSeconds, blockNumber, logIndex } = events
  const asked = and(eq(generation, cursors.generation), eq(events.wallet, wallet), inArray(name, [...names]))
  const rows = await database.read((db) =>
    db
      .select({ cursor: cursors, event: { name, args, txHash, atSeconds } })
      .from(cursors)
      .leftJoin(events, asked)
      .where(servingOf(origin))
      .orderBy(asc(blockNumber), asc(logIndex))
      .limit(eventsMax),
  )
  if (!rows[0]) return undefined
  return { cursor: rows[0].cursor, events: rows.flatMap(({ event }) => event ?? []) }
}

export async function lastEventBlock(db: Db, generation: number): Promise<number | null> {
  const [last] = await db
    .select({ block: max(events.blockNumber) })
    .from(events)
    .where(eq(events.generation, generation))
  return last?.block ?? null
}
