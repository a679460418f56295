import { and, eq, gt, ne, type SQL, sql } from 'drizzle-orm'
import { index, type PgSchema, text } from 'drizzle-orm/pg-core'
import { amountColumn, at, fromNow } from '#shared/db/columns'
import { lockOf } from '#shared/db/lock'
import type { Db, Tx } from '#shared/db/open'
import { sumWhere, totalOf } from '#shared/db/sum'

/**
 * Amounts reserved for a promise while its quote is being taken from another service. This avoids
 * holding a global lock during that call, and keeps other requests from counting on the same money.
 * A reservation that is neither used nor released, because its process died, expires.
 */
export const reservationTable = <S extends string>(schema: PgSchema<S>) =>
  schema.table(
    'reservations',
    {
      quoteId: text('quote_id').primaryKey(),
      /** In the smallest unit of the promised asset. */
      amount: amountColumn('amount').notNull(),
      until: at('until').notNull(),
    },
    (table) => [index('reservations_until').on(table.until)],
  )
export type ReservationTable = ReturnType<typeof reservationTable>

/** Longer than a user's request may take, including taking the quote and storing the promise. */
const lifeMs = 30_000
/**
 * Longer than a transaction may take, so a reservation in use lasts until the stored promise
 * counts.
 */
const useMs = 10_000

/**
 * Start of the statement, not of the transaction, which may have waited for a lock. An index can
 * use it.
 */
const now = sql`statement_timestamp()`

/**
 * Reserves an amount for a quote if `taken`, plus all other reservations, stays within `takenMax`.
 * Repeating it for the same quote changes nothing. Concurrent callers hold one common lock, so each
 * counts the reservations before it.
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
 * Uses a reservation in the transaction that stores the promise; `lock` names the lock to take with
 * it. Returns false if it was released or is about to expire, and must be made again; the lock may
 * not have been taken then.
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

/** Releases a reservation that was not used. */
export const release = (db: Db, table: ReservationTable, quoteId: string) =>
  db
    .update(table)
    .set({ until: now })
    .where(and(eq(table.quoteId, quoteId), gt(table.until, now)))
