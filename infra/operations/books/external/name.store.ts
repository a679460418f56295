import { inArray, sql } from 'drizzle-orm'
import type { Tx } from '#platform/db/open'
import { names } from '../schema.store'

export type Name = typeof names.$inferInsert

const rowsMax = 1_000

/** Stores names. The last name of a key wins, because a key may be named before its row exists. */
export async function recordNames(tx: Tx, rows: readonly Name[]): Promise<void> {
  const unique = [...new Map(rows.map((row) => [row.key, row])).values()]
  for (let start = 0; start < unique.length; start += rowsMax)
    await tx
      .insert(names)
      .values(unique.slice(start, start + rowsMax))
      .onConflictDoUpdate({
        target: names.key,
        set: {
          kind: sql`excluded.kind`,
          item: sql`excluded.item`,
          refSequence: sql`excluded.ref_sequence`,
        },
        setWhere: sql`(names.kind, names.item, names.ref_sequence)
          is distinct from (excluded.kind, excluded.item, excluded.ref_sequence)`,
      })
}

export async function namedAmong(tx: Tx, keys: readonly string[]): Promise<Set<string>> {
  if (keys.length === 0) return new Set()
  const rows = await tx
    .select({ key: names.key })
    .from(names)
    .where(inArray(names.key, [...keys]))
  return new Set(rows.map(({ key }) => key))
}
