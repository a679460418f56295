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
