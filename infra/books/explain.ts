import type { Sql } from 'postgres'

/** A person's word for a break: who looks after it, why it is as it is, and until when that holds. */
export type Explanation = { owner: string; reason: string; until: Date }

/**
 * Notes it on an open break, which calls nobody until then. False: there is no such break open. It
 * waits for a comparison that is running, which would fail on what changed under it.
 */
export const explainBreak = (sql: Sql, id: string, { owner, reason, until }: Explanation) =>
  sql.begin(async (tx) => {
    await tx`lock table books.runs in exclusive mode`
    const noted = await tx`
      update books.breaks set owner = ${owner}, reason = ${reason}, rests_until = ${until}
      where id = ${id} and closed_at is null returning id`
    return noted.length === 1
  })
