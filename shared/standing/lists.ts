import type { Sql } from 'postgres'
import type { ListRead } from '#shared/standing/needs'

/** A provider list with the age of its last read; null: never read. */
export type ListAge = ListRead & { readonly ageMs: number | null }

/** Returns the reads of the provider's transaction lists by payments and payouts. */
export async function listsRead(sql: Sql): Promise<ListAge[]> {
  const found = await Promise.all(
    (['payments', 'payouts'] as const).map(
      (schema) => sql<ListAge[]>`
        select ${schema} as service, account, "window", failures,
          (extract(epoch from now() - read_at) * 1000)::float8 as "ageMs"
        from ${sql(schema)}.listings order by account, "window"`,
    ),
  )
  return found.flat()
}
