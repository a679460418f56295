import type { Sql } from 'postgres'
import type { Unfinished } from '../evidence'

/**
 * Returns the rows of all services that are not finished: payments, cash-outs and orders on their way, holds, and messages
 * that are not published. A checkout without money is not one of them.
 */
export const unfinishedIn = (sql: Sql): Promise<Unfinished[]> =>
  sql<Unfinished[]>`
    select kind || ' ' || id as what, state, next_check_at as "dueAt" from payments.payments
    where state in ('paid', 'held', 'revoking', 'refunding') or reason = 'awaiting_rate'
       or (state = 'repaid' and held and hold_ended_at is null)
    union all
    select 'cash-out ' || id, state, next_check_at from payouts.payouts
    where state in ('opening', 'taking', 'taken', 'paying', 'returning')
    union all
    select kind || ' ' || cause, state, coalesce(not_before, updated_at) from chain_relayer.operation
    where state in ('waiting', 'assigned')
    union all
    select subject || ' ' || id, 'not published', created_at from (
      select subject, id, created_at, published_at from gateway.outbox
      union all select subject, id, created_at, published_at from payments.outbox
      union all select subject, id, created_at, published_at from payouts.outbox
      union all select subject, id, created_at, published_at from chain_relayer.outbox
    ) as outbox where published_at is null`

/** Returns the provider's id of the payment that each checkout counts. */
export async function countedIn(sql: Sql): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ id: string; charge: string }[]>`
    select id, provider_payment_id as charge from payments.payments where provider_payment_id is not null`
  return new Map(rows.map(({ id, charge }) => [id, charge]))
}

/** Returns the AUSD (10⁻⁶) that each wallet owes for reversed payments; negative if it repaid more than was lost in the end. */
export async function owedIn(sql: Sql): Promise<ReadonlyMap<string, bigint>> {
  const rows = await sql<{ wallet: string; micro: string }[]>`
    select wallet, sum(lost_micro - made_good_micro)::text as micro from payments.reversals
    where cleared_at is null group by wallet`
  return new Map(rows.map(({ wallet, micro }) => [wallet, BigInt(micro)]))
}
