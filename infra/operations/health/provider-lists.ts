import type { Sql } from 'postgres'

/**
 * State of reading a provider's list. `failures` counts failed reads since the last complete one, and `ageMs` is the
 * age of that one; null if the list was never read.
 */
export type ListAge = {
  readonly service: string
  readonly account: string
  readonly window: string
  readonly failures: number
  readonly ageMs: number | null
}

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
