import type { Sql } from 'postgres'

/** Selects what became of the command in the row `d`: that it is done, or else the latest outcome. No row is an unknown outcome. */
export const outcomeOfCommand = (sql: Sql) => sql`
  select outcome, said, asked_by, reason, recorded_at from ops.outcomes
  where command_id = d.id order by outcome = 'done' desc, id desc limit 1`
