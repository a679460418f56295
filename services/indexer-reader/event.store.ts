import { and, asc, between, eq, sql } from 'drizzle-orm'
import { bigint, index, integer, jsonb, primaryKey, text } from 'drizzle-orm/pg-core'
import { addressColumn, isOneOf } from '#shared/db/columns'
import type { Db, Tx } from '#shared/db/open'
import type { ChainEvent } from './event'
import { schema } from './schema.store'

/** Every followed event, by its position on the chain. */
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
 * Inserts events with one array parameter per column, as one parameter per value could exceed the
 * protocol's limit of 65,535. Events already stored stay unchanged.
 */
export async function addEvents(
  tx: Tx,
  generation: number,
  rows: readonly ChainEvent[],
): Promise<void> {
  if (rows.length === 0) return
  const list = (pick: (row: ChainEvent) => string | number) => sql.param(rows.map(pick))
  await tx.execute(sql`
    insert into ${events}
      (generation, block_number, log_index, wallet, name, args, tx_hash, at_seconds)
    select ${generation}, r.*
    from unnest(
      ${list((row) => row.blockNumber)}::bigint[], ${list((row) => row.logIndex)}::int[],
      ${list((row) => row.wallet)}::text[], ${list((row) => row.name)}::text[],
      ${list((row) => JSON.stringify(row.args))}::jsonb[], ${list((row) => row.txHash)}::text[],
      ${list((row) => row.atSeconds)}::bigint[]) as r
    on conflict do nothing`)
}

/** Returns the stored events of these blocks, in chain order. */
export const eventsBetween = (db: Db, generation: number, from: number, to: number) =>
  read(db, and(eq(events.generation, generation), between(events.blockNumber, from, to)))

/** Returns the stored events of these wallets, in chain order. */
export const eventsOf = (db: Db, generation: number, wallets: readonly `0x${string}`[]) =>
  read(db, and(eq(events.generation, generation), isOneOf(events.wallet, wallets)))

const read = async (db: Db, where: ReturnType<typeof and>): Promise<ChainEvent[]> => {
  const rows = await db
    .select()
    .from(events)
    .where(where)
    .orderBy(asc(events.blockNumber), asc(events.logIndex))
  return rows.map(({ generation: _, ...row }) => row as unknown as ChainEvent)
}
