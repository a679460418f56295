import type { Sql } from 'postgres'

/**
 * Returns a subquery of unexplained AUSD deposits in the treasury, as found by the books job:
 * without those returned to their sender or accepted as capital. Columns: those of
 * `books.chain_moves`, and `name` (`<transaction>:<log>`).
 */
export const unexplainedMoves = (sql: Sql) => sql`
  select m.*, m.tx_hash || ':' || m.log_index as name from books.chain_moves m
  where m.kind = 'in' and not exists (select from books.names n where n.key = m.key)
    and not exists (
      select from chain_relayer.giveback_request r
      join chain_relayer.operation o on o.id = r.operation_id and o.state = 'settled'
      where r.tx_hash = lower(m.tx_hash) and r.log_index = m.log_index)
    and not exists (${capitalOf(sql, sql`m.tx_hash || ':' || m.log_index`)})`

/** Returns a subquery with one row if the books' journal has this name as capital that was not reversed. */

export const capitalOf = (sql: Sql, name: ReturnType<Sql>) => sql`
  select from books.journal j where j.item = ${name} and j.account = 'capital'
  having sum(j.amount) <> 0`
