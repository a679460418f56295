import { eq, getTableColumns, type InferSelectModel, type SQL, sql } from 'drizzle-orm'
import type { AnyPgColumn, PgTable, PgUpdateSetSource } from 'drizzle-orm/pg-core'
import type { Db } from '#platform/db/open'

type Values<A extends Readonly<Record<string, SQL>>> = {
  readonly [K in keyof A]: A[K] extends SQL<infer V> ? V : never
}

/**
 * Leases due rows: `set` moves them to a time at which they are due again, in case the instance that works on them dies.
 * Instances share the rows, because each skips those that another is leasing. One statement does it, without a transaction.
 * `also` are values that are returned with each row.
 */
export async function leaseRows<T extends PgTable, A extends Readonly<Record<string, SQL>> = Record<never, SQL>>(
  db: Db,
  table: T,
  terms: {
    readonly id: AnyPgColumn
    readonly isDue: SQL | undefined
    readonly order: readonly (SQL | AnyPgColumn)[]
    readonly rowsMax: number
    readonly set: PgUpdateSetSource<T>
    readonly also?: A
  },
): Promise<(InferSelectModel<T> & Values<A>)[]> {
  const { id, isDue, order, rowsMax, set, also } = terms
  const due = db.$with('due').as(
    db
      .select({ id: sql<string>`${id}`.as('due_id') })
      .from(table as PgTable)
      .where(isDue)
      .orderBy(...order)
      .limit(rowsMax)
      // guard: a due row is leased by one instance
      .for('update', { skipLocked: true }),
  )
  const rows = await db
    .with(due)
    .update(table as PgTable)
    .set(set as PgUpdateSetSource<PgTable>)
    .from(due)
    .where(eq(id, due.id))
    .returning({ ...getTableColumns(table as PgTable), ...also })
  return rows as (InferSelectModel<T> & Values<A>)[]
}
