import type { Sql } from 'postgres'
import type { ListRead } from '#shared/standing/needs'

/** With how long ago it was last read; null: never. */
export type ListAge = ListRead & { readonly ageMs: number | null }

/** Every list of the provider's transactions that payments and payouts read. */
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
