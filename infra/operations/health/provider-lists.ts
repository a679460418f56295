import type { Sql } from 'postgres'

/** A provider transaction list: its consecutive failed reads, and the age of the last one; null: never read. */
export type ListAge = {
  readonly service: string
  readonly account: string
  readonly window: string
  readonly failures: number
  readonly ageMs: number | null
}

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
