import postgres from 'postgres'
import type { Stack } from '#infra/local/stack'

/** How many rows every table of the services that move fiat has, by `schema.table`. */
export async function rowCounts(stack: Stack): Promise<Record<string, number>> {
  const sql = postgres(stack.adminUrl, { max: 1, onnotice: () => {} })
  try {
    const tables = await sql<{ name: string }[]>`
      select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname in ('payments', 'payouts')`
    const counts = await Promise.all(
      tables.map(async ({ name }) => {
        const [row] = await sql.unsafe<{ rows: number }[]>(
          `select count(*)::int as rows from ${name}`,
        )
        return [name, row!.rows] as const
      }),
    )
    return Object.fromEntries(counts.sort())
  } finally {
    await sql.end({ timeout: 2 })
  }
}

/** One query on the whole database, as the administrator sees it. */
export async function query<T>(stack: Stack, text: string): Promise<T[]> {
  const sql = postgres(stack.adminUrl, { max: 1, onnotice: () => {} })
  try {
    return (await sql.unsafe(text)) as unknown as T[]
  } finally {
    await sql.end({ timeout: 2 })
  }
}
