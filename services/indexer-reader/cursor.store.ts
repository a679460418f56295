import { and, desc, eq, inArray, not, sql } from 'drizzle-orm'
import { bigint, integer, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { at } from '#shared/db/columns'
import type { Database, Db, Tx } from '#shared/db/open'
import type { Span } from './chain/span'
import { schema } from './schema.store'

/**
 * One row per generation of the projection: how far it has read, and of which chain. A `filling`
 * generation becomes `serving` in the transaction in which it reaches the head; the one that served
 * before becomes `retired`.
 */
export const cursors = schema.table(
  'cursors',
  {
    generation: integer('generation').primaryKey(),
    state: text('state', { enum: ['filling', 'serving', 'retired'] }).notNull(),
    chainId: integer('chain_id').notNull(),
    genesisHash: text('genesis_hash'),
    contract: text('contract').notNull(),
    deployBlock: bigint('deploy_block', { mode: 'number' }).notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    blockHash: text('block_hash'),
    blockTimeSeconds: bigint('block_time_seconds', { mode: 'number' }).notNull(),
    /** Up to here a recheck has confirmed the first answer. */
    confirmedTo: bigint('confirmed_to', { mode: 'number' }).notNull(),
    eventCount: bigint('event_count', { mode: 'number' }).notNull(),
    movedAt: at('moved_at').notNull(),
  },
  (table) => [
    uniqueIndex('cursors_one_serves').on(table.state).where(sql`${table.state} = 'serving'`),
    uniqueIndex('cursors_one_fills').on(table.state).where(sql`${table.state} = 'filling'`),
  ],
)
export type Cursor = typeof cursors.$inferSelect

/** Which contract on which chain a projection is of. */
export type Origin = { chainId: number; contract: string; deployBlock: number }

/** The generations that are being read: at most one that serves and one that fills. */
export const liveCursors = (db: Db): Promise<Cursor[]> =>
  db
    .select()
    .from(cursors)
    .where(inArray(cursors.state, ['filling', 'serving']))

/** The one that is in this state, of a contract if given. */
export async function findCursor(
  db: Db,
  state: 'filling' | 'serving',
  contract?: string,
): Promise<Cursor | undefined> {
  const rows = await db
    .select()
    .from(cursors)
    .where(and(eq(cursors.state, state), contract ? eq(cursors.contract, contract) : undefined))
  return rows[0]
}

/** Holds the row until the transaction ends: no step of another reader moves it meanwhile. */
export const lockCursor = (tx: Tx, generation: number) =>
  tx.select().from(cursors).where(eq(cursors.generation, generation)).for('update')

/**
 * Asks for a generation that starts from nothing; one that is filling already is returned instead.
 */
export async function beginGeneration(database: Database, origin: Origin): Promise<number> {
  const ofOrigin = and(
    eq(cursors.chainId, origin.chainId),
    eq(cursors.contract, origin.contract),
    eq(cursors.deployBlock, origin.deployBlock),
  )!
  return database.transaction(async (tx) => {
    // One that fills for another contract has no reader any more.
    await tx
      .update(cursors)
      .set({ state: 'retired' })
      .where(and(eq(cursors.state, 'filling'), not(ofOrigin)))
    const [last] = await tx.select().from(cursors).orderBy(desc(cursors.generation)).limit(1)
    const generation = (last?.generation ?? 0) + 1
    const begun = await tx
      .insert(cursors)
      .values({
        generation,
        state: 'filling',
        ...origin,
        blockNumber: origin.deployBlock - 1,
        blockTimeSeconds: 0,
        confirmedTo: origin.deployBlock - 1,
        eventCount: 0,
        movedAt: new Date(0),
      })
      .onConflictDoNothing()
      .returning({ generation: cursors.generation })
    if (begun[0]) return generation
    const [filling] = await tx.select().from(cursors).where(eq(cursors.state, 'filling'))
    return filling?.generation ?? generation
  })
}

/** Remembers which chain it is, once; the endpoints asked later must be the same. */
export const rememberGenesis = (db: Db, generation: number, genesisHash: string) =>
  db
    .update(cursors)
    .set({ genesisHash })
    .where(and(eq(cursors.generation, generation), sql`${cursors.genesisHash} is null`))

/**
 * Steps from the block before `first` to `last`; null if the cursor was moved by another reader.
 */
export async function moveCursor(
  db: Db,
  generation: number,
  step: { first: Span; last: Span; events: number; movedAt: Date },
): Promise<Cursor | null> {
  const moved = await db
    .update(cursors)
    .set({
      blockNumber: step.last.to,
      blockHash: step.last.hash,
      blockTimeSeconds: step.last.atSeconds,
      eventCount: sql`${cursors.eventCount} + ${step.events}`,
      movedAt: step.movedAt,
    })
    .where(
      and(
        eq(cursors.generation, generation),
        eq(cursors.blockNumber, step.first.from - 1),
        inArray(cursors.state, ['filling', 'serving']),
      ),
    )
    .returning()
  return moved[0] ?? null
}

/** The generation answers from now on; the one that answered before is left as it is. */
export async function promote(tx: Tx, generation: number): Promise<void> {
  await tx.update(cursors).set({ state: 'retired' }).where(eq(cursors.state, 'serving'))
  await tx
    .update(cursors)
    .set({ state: 'serving' })
    .where(and(eq(cursors.generation, generation), eq(cursors.state, 'filling')))
}

/** One that was being filled will never serve. */
export const giveUpFilling = (db: Db, generation: number) =>
  db
    .update(cursors)
    .set({ state: 'retired' })
    .where(and(eq(cursors.generation, generation), eq(cursors.state, 'filling')))

/** Sets how far rechecks have come; `events` counts those they had to add. */
export const confirmTo = (db: Db, generation: number, block: number, events = 0) =>
  db
    .update(cursors)
    .set({ confirmedTo: block, eventCount: sql`${cursors.eventCount} + ${events}` })
    .where(eq(cursors.generation, generation))

/** Deletes every row of retired generations: for an operator, the service has no such right. */
export const dropRetired = (database: Database): Promise<void> =>
  database.transaction(async (tx) => {
    const retired = sql`select generation from ${cursors} where state = 'retired'`
    for (const name of ['events', 'records', 'cycles', 'cursors']) {
      const table = sql`${sql.identifier(schema.schemaName)}.${sql.identifier(name)}`
      await tx.execute(sql`delete from ${table} where generation in (${retired})`)
    }
  })
