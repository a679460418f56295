import type { Sql } from 'postgres'

/**
 * Every transfer of AUSD to the treasury that nothing of ours names, as the job of the books found it:
 * without what went back to its sender, and what somebody accepted as capital. A fragment to select from,
 * with the columns of `books.chain_moves` and `name`, `<transaction>:<log>`.
 */
export const unexplainedMoves = (sql: Sql) => sql`
  select m.*, m.tx_hash || ':' || m.log_index as name from books.chain_moves m
  where m.kind = 'in' and not exists (select from books.names n where n.key = m.key)
    and not exists (
      select from chain_relayer.giveback_request r
      join chain_relayer.operation o on o.id = r.operation_id and o.state = 'settled'
      where r.tx_hash = lower(m.tx_hash) and r.log_index = m.log_index)
    and not exists (${capitalOf(sql, sql`m.tx_hash || ':' || m.log_index`)})`

/** Whether the journal of the books holds this name as capital, less what was reversed: one row or none. */
export const capitalOf = (sql: Sql, name: ReturnType<Sql>) => sql`
  select from books.journal j where j.item = ${name} and j.account = 'capital'
  having sum(j.amount) <> 0`
