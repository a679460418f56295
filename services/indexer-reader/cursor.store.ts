import { and, desc, eq, inArray, lte, not, sql } from 'drizzle-orm'
import { bigint, boolean, integer, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { at } from '#platform/db/columns'
import type { Database, Db, Tx } from '#platform/db/open'
import type { FinalizedHead } from './chain/head'
import { schema } from './schema.store'

/**
 * Progress of each generation. A `filling` one becomes `serving` once it is complete at the head, and the previous one
 * `retired`.
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
    /** Block at which the contract had as many events as are stored. */
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    blockHash: text('block_hash'),
    blockTimeSeconds: bigint('block_time_seconds', { mode: 'number' }).notNull(),
    /** Number of stored events, which is the `sequence` of the last one. */
    sequence: bigint('sequence', { mode: 'number' }).notNull().default(0),
    /** False while the contract is known to have more events than are stored. */
    complete: boolean('complete').notNull().default(false),
    movedAt: at('moved_at').notNull(),
  },
  (table) => [
    uniqueIndex('cursors_one_serves').on(table.state).where(sql`${table.state} = 'serving'`),
    uniqueIndex('cursors_one_fills').on(table.state).where(sql`${table.state} = 'filling'`),
  ],
)
export type GenerationCursor = typeof cursors.$inferSelect

export type ProjectionOrigin = { chainId: number; contract: string; deployBlock: number }

export const servingOf = ({ chainId, contract, deployBlock }: ProjectionOrigin) =>
  and(
    eq(cursors.state, 'serving'),
    eq(cursors.chainId, chainId),
    eq(cursors.contract, contract),
    eq(cursors.deployBlock, deployBlock),
  )!

/** Returns the serving and the filling generation, at most one of each. */
export const liveCursors = (db: Db): Promise<GenerationCursor[]> =>
  db
    .select()
    .from(cursors)
    .where(inArray(cursors.state, ['filling', 'serving']))

export async function findCursor(
  db: Db,
  state: 'filling' | 'serving',
  contract?: string,
): Promise<GenerationCursor | undefined> {
  const rows = await db
    .select()
    .from(cursors)
    .where(and(eq(cursors.state, state), contract ? eq(cursors.contract, contract) : undefined))
  return rows[0]
}

/** Begins a generation, or returns the one that is already filling. */
export async function beginGeneration(database: Database, origin: ProjectionOrigin): Promise<number> {
  const ofOrigin = and(
    eq(cursors.chainId, origin.chainId),
    eq(cursors.contract, origin.contract),
    eq(cursors.deployBlock, origin.deployBlock),
  )!
  return database.transaction(async (tx) => {
    // A generation that fills for another contract has no reader any more.
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
        sequence: 0,
        complete: false,
        movedAt: new Date(0),
      })
      .onConflictDoNothing()
      .returning({ generation: cursors.generation })
    if (begun[0]) return generation
    const [filling] = await tx.select().from(cursors).where(eq(cursors.state, 'filling'))
    return filling?.generation ?? generation
  })
}

/** Stores the genesis hash, which later endpoints must have too. */
export const rememberGenesis = (db: Db, generation: number, genesisHash: string) =>
  db
    .update(cursors)
    .set({ genesisHash })
    .where(and(eq(cursors.generation, generation), sql`${cursors.genesisHash} is null`))

/**
 * Moves the cursor. Without a head as proof the record stays incomplete. Returns null if another reader moved the
 * cursor first.
 */
export async function moveCursor(
  db: Db,
  { generation, sequence }: Pick<GenerationCursor, 'generation' | 'sequence'>,
  to: { sequence: number; head: FinalizedHead | null; atMs: number },
): Promise<GenerationCursor | null> {
  const { head } = to
  const proven = head && {
    blockNumber: head.block,
    blockHash: head.hash,
    blockTimeSeconds: head.atSeconds,
    movedAt: new Date(to.atMs),
  }
  const moved = await db
    .update(cursors)
    .set({ sequence: to.sequence, complete: head !== null, ...proven })
    .where(
      and(
        eq(cursors.generation, generation),
        eq(cursors.sequence, sequence),
        head ? lte(cursors.blockNumber, head.block) : undefined,
        inArray(cursors.state, ['filling', 'serving']),
      ),
    )
    .returning()
  return moved[0] ?? null
}

/** Marks the record as incomplete, or does nothing if another reader has found the missing events. */
export const markIncomplete = (db: Db, { generation, sequence }: Pick<GenerationCursor, 'generation' | 'sequence'>) =>
  db
    .update(cursors)
    .set({ complete: false })
    .where(and(eq(cursors.generation, generation), eq(cursors.sequence, sequence)))

/**
 * Makes a generation serve. Returns false if it no longer fills, or is at an older block of the same chain than the
 * serving one.
 */
export async function promote(tx: Tx, generation: number): Promise<boolean> {
  const live = await tx
    .select()
    .from(cursors)
    .where(inArray(cursors.state, ['filling', 'serving']))
    .for('update')
  const filled = live.find((cursor) => cursor.generation === generation)
  if (filled?.state !== 'filling') return false
  const serving = live.find(({ state }) => state === 'serving')
  if (serving && isSameChain(serving, filled) && serving.blockNumber > filled.blockNumber) {
    return false
  }
  if (serving) await tx.update(cursors).set({ state: 'retired' }).where(eq(cursors.generation, serving.generation))
  await tx.update(cursors).set({ state: 'serving' }).where(eq(cursors.generation, generation))
  return true
}

const isSameChain = (one: GenerationCursor, other: GenerationCursor): boolean =>
  one.chainId === other.chainId && one.genesisHash === other.genesisHash && one.contract === other.contract

/** Deletes retired generations. Only operators may run it, because the service's role may not delete. */
export const dropRetired = (database: Database): Promise<void> =>
  database.transaction(async (tx) => {
    const retired = sql`select generation from ${cursors} where state = 'retired'`
    for (const name of ['events', 'records', 'cycles', 'cursors']) {
      const table = sql`${sql.identifier(schema.schemaName)}.${sql.identifier(name)}`
      await tx.execute(sql`delete from ${table} where generation in (${retired})`)
    }
  })
