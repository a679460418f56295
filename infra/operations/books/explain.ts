import type { Sql } from 'postgres'

export type Explanation = { owner: string; reason: string; until: Date }

/**
 * Records an operator's explanation of a break, for its amount. Returns false if no such break is open. Waits for a running
 * comparison, which would fail if a break changed during its transaction.
 */
export const explainBreak = (sql: Sql, id: string, { owner, reason, until }: Explanation) =>
  sql.begin(async (tx) => {
    await tx`lock table books.runs in exclusive mode`
    const recorded = await tx`
      update books.breaks set owner = ${owner}, reason = ${reason}, rests_until = ${until},
        explained_amount = amount, exceeded_at = null
      where id = ${id} and closed_at is null returning id`
    return recorded.length === 1
  })

/** Returns the amount up to which an explanation of a break would now mute it, which stays the same until it grows beyond that. */
export async function mutedUpTo(sql: Sql, id: string): Promise<string> {
  const [found] = await sql<{ amount: string }[]>`
    select (case when exceeded_at is null then coalesce(explained_amount, amount) else amount end)::text as amount
    from books.breaks where id = ${id}`
  return found?.amount ?? '0'
}
