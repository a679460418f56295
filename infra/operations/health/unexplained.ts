import type { Sql } from 'postgres'

/**
 * Selects the deposits in the treasury that were neither returned to their sender nor accepted as capital: the columns
 * of `books.chain_moves`, and `name` (`<transaction>:<log>`).
 */
export const unexplainedMoves = (sql: Sql) => sql`
  select m.*, m.tx_hash || ':' || m.log_index as name from books.chain_moves m
  where m.kind = 'in' and not exists (select from books.names n where n.key = m.key)
    and not exists (
      select from chain_relayer.giveback_request r
      join chain_relayer.operation o on o.id = r.operation_id and o.state = 'settled'
      where r.tx_hash = lower(m.tx_hash) and r.log_index = m.log_index)
    and not exists (${capitalOf(sql, sql`m.tx_hash || ':' || m.log_index`)})`

/** Selects one row if the journal has this name as capital that was not reversed. */
export const capitalOf = (sql: Sql, name: ReturnType<Sql>) => sql`
  select from books.journal j where j.item = ${name} and j.account = 'capital'
  having sum(j.amount) <> 0`

/** Selects the payment that was refunded because this transfer came, as `payment`. A refund that failed does not count. */
export const refundedFor = (sql: Sql, name: ReturnType<Sql>) => sql`
  select t.payment_id as payment from payments.returned_transfers t
  where t.name = lower(${name}) and exists (
    select from payments.refund_orders o where o.payment_id = t.payment_id and not o.is_second and o.state <> 'failed')`

/** Selects the request to return a transfer, which is in progress or done. */
export const returnOf = (sql: Sql, name: ReturnType<Sql>) => sql`
  select r.asked_by as by from chain_relayer.giveback_request r
  left join chain_relayer.operation o on o.id = r.operation_id
  where r.tx_hash || ':' || r.log_index = lower(${name}) and r.state <> 'refused' and o.state is distinct from 'failed'`

export type UnexplainedSum = {
  readonly count: number
  readonly ausdMicro: string
  readonly oldestMs: number
}

/** Time within which the row that explains a transfer appears. */
const namedWithin = '2 minutes'

/** Returns the number and sum of unexplained transfers, without those that an operator has muted. */
export async function sumUnexplained(sql: Sql): Promise<UnexplainedSum> {
  const [found] = await sql<UnexplainedSum[]>`
    select count(*)::int as count, coalesce(sum(ausd_micro), 0)::text as "ausdMicro",
      coalesce((extract(epoch from now() - min(moved_at)) * 1000)::float8, 0) as "oldestMs"
    from (${unexplainedMoves(sql)}) m
    where m.moved_at < now() - ${namedWithin}::interval
      and not exists (
        select from books.breaks b
        where b.item = m.name and b.closed_at is null and b.rests_until > now())`
  return found!
}
