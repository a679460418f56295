import { and, eq, gt, ne, type SQL, sql } from 'drizzle-orm'
import { index, type PgSchema, text } from 'drizzle-orm/pg-core'
import { amountColumn, at, fromNow } from '#shared/db/columns'
import { lockOf } from '#shared/db/lock'
import type { Db, Tx } from '#shared/db/open'
import { sumWhere, totalOf } from '#shared/db/sum'

/**
 * What is set aside for a promise while its quote is taken, which is asked of another service: no
 * lock of everybody's is held meanwhile, and nobody else counts on the same money. One that is
 * neither used nor released, because its process died, ends by itself.
 */
export const reservationTable = <S extends string>(schema: PgSchema<S>) =>
  schema.table(
    'reservations',
    {
      quoteId: text('quote_id').primaryKey(),
      /** In the smallest unit of what the service promises. */
      amount: amountColumn('amount').notNull(),
      until: at('until').notNull(),
    },
    (table) => [index('reservations_until').on(table.until)],
  )
export type ReservationTable = ReturnType<typeof reservationTable>

/** Longer than a call of a user may take, taking the quote and storing what was promised. */
const lifeMs = 30_000
/** A transaction ends within so long, so what it uses lasts until its row counts. */
const useMs = 10_000

/** When the statement began, and not the transaction, which may have waited for a lock; an index can use it. */
const now = sql`statement_timestamp()`

/**
 * Sets aside an amount for a quote, if what is `taken` already, with what is set aside for other quotes,
 * comes to `takenMax` at most; the same quote again is the same promise. Everybody who sets something
 * aside here holds one lock, so that each counts what the one before set aside.
 */
export async function reserveWithin(
  tx: Tx,
  table: ReservationTable,
  { quoteId, amount }: { quoteId: string; amount: bigint },
  { taken, takenMax }: { taken: readonly SQL[]; takenMax: bigint },
): Promise<boolean> {
  const isAnothers = and(gt(table.until, now), ne(table.quoteId, quoteId))!
  const total = totalOf([...taken, sumWhere(table.amount, table, isAnothers)])
  const reserved = await tx.execute(sql`
    insert into ${table} (quote_id, amount, until)
    select ${quoteId}::text, ${amount.toString()}::numeric, ${fromNow(lifeMs)}
    where ${total} <= ${takenMax.toString()}::numeric
    on conflict (quote_id) do update set amount = excluded.amount, until = excluded.until
    returning 1`)
  return reserved.length === 1
}

/**
 * Uses what was set aside, in the transaction that stores the promise; `lock` names what this transaction
 * is to hold from then on. False: it was released or is about to end, and has to be set aside anew; then
 * the lock may not have been taken.
 */
export async function useReservation(
  tx: Tx,
  table: ReservationTable,
  quoteId: string,
  lock?: string,
): Promise<boolean> {
  const isThere = and(eq(table.quoteId, quoteId), gt(table.until, fromNow(useMs)))
  const used = await tx.execute(sql`
    update ${table} set until = ${now} ${lock ? sql`from (select ${lockOf(lock)}) locked` : sql``}
    where ${isThere} returning 1`)
  return used.length === 1
}

/** Nothing was promised after all. */
export const release = (db: Db, table: ReservationTable, quoteId: string) =>
  db
    .update(table)
    .set({ until: now })
    .where(and(eq(table.quoteId, quoteId), gt(table.until, now)))
