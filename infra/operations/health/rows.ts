import type { PendingQuery, Row, Sql } from 'postgres'
import { type Messenger, messengers, serviceOf } from '#infra/migrations/databases'
import type { Limited } from '#infra/operations/alerts/state-limits'
import { listProposals } from '#infra/operations/audit-log/proposals'
import { type Break, openBreaks } from '#infra/operations/books/judge'
import { listDuplicates, listFailedFlags } from '#infra/operations/cli/person/decide'
import { listNeedless } from '#infra/operations/cli/wallets'
import { operationMicro, predicate } from '#infra/operations/predicates'
import { isOpen as isOpenOperation, operations } from '../../../services/chain-relayer/operations/operation.table'
import { isOpen as isOpenPayment, payments, waitsSince } from '../../../services/payments/payment.table'
import { unpaidStates } from '../../../services/payouts/cashout'
import { cashouts, isOpen as isOpenCashout, owesAusd, owesFiat } from '../../../services/payouts/cashout.table'
import { listPaused, type Paused } from './pauses'
import { type ListAge, listsRead } from './provider-lists'
import { sumUnexplained, type UnexplainedSum } from './unexplained'

/** Items in one state, with their sums in the smallest unit by asset. */
export type InState = {
  what: Limited
  state: string
  count: number
  /** Age of the oldest item, since it came into the state. */
  oldestMs: number
  /** Longest time that counts against the limit of the state. That of an open checkout begins at its end. */
  waitedMs: number
  sums: Record<string, string>
}

/** Facts from the rows of all services. Amounts are in the smallest unit. */
export type Rows = {
  /** Time of the database's clock ahead of this machine's; negative behind it. */
  clockAheadMs: number
  states: InState[]
  /** AUSD committed to payments, AUSD owed to cash-outs, and rupiah not paid out yet. */
  promisedMicro: bigint
  owedMicro: bigint
  unpaidMinor: bigint
  outboxes: { service: string; waiting: number; oldestMs: number }[]
  deadLetters: { service: string; count: number }[]
  lanes: { address: `0x${string}`; fault: string | null }[]
  paused: Paused[]
  /** Number of commands that wait for a second operator. */
  proposedCommands: number
  frozenWallets: number
  needlessRepayments: number
  /** Bank accounts that operators refuse, and cash-outs that they hold before the payout. */
  refusedAccounts: number
  heldCashouts: number
  /** Open disputes that wait for evidence. `leftMs` is the time until the first is lost, and `paymentId` its payment. */
  evidenceDue: { count: number; leftMs: number; paymentId: string }
  /** Ordered cash-outs whose payout does not fit what was ordered. `payoutId` is the oldest. */
  doubtfulPayouts: { count: number; payoutId: string }
  /** Number of wallets whose person has another wallet, without an operator's decision. */
  secondWallets: number
  /** Number of verified flags that the relayer gave up. */
  failedFlags: number
  /** `ageMs` is the time since the last run or, if there was none, since the first payment or cash-out. */
  books: { endedAt: Date | null; ageMs: number }
  /** Open breaks. Only those with standing `counts` need attention. */
  breaks: readonly Pick<Break, 'standing' | 'ageMs'>[]
  unexplained: UnexplainedSum
  lists: readonly ListAge[]
}

const ageMs = (sql: Sql, since: Fragment) => sql`(extract(epoch from now() - min(${since})) * 1000)::float8`

type Fragment = PendingQuery<Row[]> | ReturnType<Sql['unsafe']>

export const readRows = (sql: Sql): Promise<Rows> =>
  sql.begin('isolation level repeatable read read only', async (begun) => {
    const tx = begun as unknown as Sql
    const clockAheadMs = await readClockAhead(tx)
    const states = [
      ...(await paymentStates(tx)),
      ...(await payoutStates(tx)),
      ...(await operationStates(tx)),
      ...(await identityStates(tx)),
    ]
    const [promises] = await tx<{ promised: string }[]>`
      select coalesce(sum(micro), 0)::text as promised from payments.promise_parts`
    const [open] = await tx<{ owed: string; unpaid: string }[]>`
      select coalesce(sum(ausd_micro) filter (where ${predicate(tx, owesAusd)}), 0)::text as owed,
        coalesce(sum(fiat_minor) filter (where ${predicate(tx, owesFiat)}), 0)::text as unpaid
      from payouts.payouts where ${predicate(tx, isOpenCashout(cashouts))}`
    const [books] = await tx<Rows['books'][]>`
      select "endedAt", coalesce(extract(epoch from now() - coalesce("endedAt",
        least((select min(created_at) from payments.payments),
          (select min(created_at) from payouts.payouts)))) * 1000, 0)::float8 as "ageMs"
      from (select max(ended_at) as "endedAt" from books.runs
        where ended_at <= now() -- A later run is of a clock that was ahead.
        ) r`
    const [frozen] = await tx<{ count: number }[]>`
      select count(*)::int as count from payments.wallets where frozen`
    const [evidence] = await tx<Rows['evidenceDue'][]>`
      select count(*)::int as count,
        coalesce(extract(epoch from min(evidence_due_at) - now()) * 1000, 0)::float8 as "leftMs",
        coalesce((array_agg(payment_id order by evidence_due_at))[1], '') as "paymentId"
      from payments.refunds
      where next_check_at is not null and evidence_due_at is not null and status in ('pending', 'unknown')`
    const [kept] = await tx<Pick<Rows, 'refusedAccounts' | 'heldCashouts'>[]>`
      select (select count(*)::int from payouts.refused_accounts where since is not null) as "refusedAccounts",
        (select count(*)::int from payouts.payouts where held_by_operator and state in ${tx([...unpaidStates])}
          and ${predicate(tx, isOpenCashout(cashouts))}) as "heldCashouts"`
    // A refused order or look-up is over once the payout is known.
    const [doubtful] = await tx<Rows['doubtfulPayouts'][]>`
      select count(*)::int as count, coalesce((array_agg(id order by created_at))[1], '') as "payoutId"
      from payouts.payouts where state = 'paying' and id in (
        select payout_id from payouts.anomalies
        where provider_payout_id is null or kind not in ('key_taken', 'provider_refuses'))`
    const duplicates = await listDuplicates(tx)
    return {
      clockAheadMs,
      states,
      ...kept!,
      books: books!,
      frozenWallets: frozen!.count,
      evidenceDue: evidence!,
      doubtfulPayouts: doubtful!,
      needlessRepayments: (await listNeedless(tx)).length,
      secondWallets: duplicates.filter(({ ruling }) => ruling === null).length,
      failedFlags: (await listFailedFlags(tx)).length,
      breaks: (await openBreaks(tx)).map(({ standing, ageMs }) => ({ standing, ageMs })),
      paused: await listPaused(tx),
      proposedCommands: (await listProposals(tx)).length,
      promisedMicro: BigInt(promises!.promised),
      owedMicro: BigInt(open!.owed),
      unpaidMinor: BigInt(open!.unpaid),
      outboxes: await Promise.all(messengers.map((schema) => outboxOf(tx, schema))),
      deadLetters: await Promise.all(messengers.map((schema) => deadLettersOf(tx, schema))),
      unexplained: await sumUnexplained(tx),
      lists: await listsRead(tx),
      lanes: await tx<Rows['lanes']>`select address, fault from chain_relayer.lane order by 1`,
    }
  }) as Promise<Rows>

async function readClockAhead(sql: Sql): Promise<number> {
  const askedAt = Date.now()
  const [row] = await sql<[{ ms: number }]>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`
  return row.ms - (askedAt + Date.now()) / 2
}

const paymentStates = (tx: Sql) => tx<InState[]>`
  select 'payment' as what, state, sum(count)::int as count, max("oldestMs") as "oldestMs", max("waitedMs") as "waitedMs",
    jsonb_object_agg(currency, fiat) || jsonb_build_object('AUSD', sum(ausd)::text) as sums
  from (
    select state, currency, count(*) as count, sum(fiat_minor)::text as fiat,
      sum(ausd_micro) as ausd, ${ageMs(tx, tx`updated_at`)} as "oldestMs",
      greatest(0, ${ageMs(tx, predicate(tx, waitsSince))}) as "waitedMs"
    from payments.payments where ${predicate(tx, isOpenPayment(payments))}
    group by 1, 2) by_currency
  group by state order by state`

const ages = (tx: Sql, since: Fragment) => tx`${ageMs(tx, since)} as "oldestMs", ${ageMs(tx, since)} as "waitedMs"`

const payoutStates = (tx: Sql) => tx<InState[]>`
  select 'payout' as what, state, count(*)::int as count, ${ages(tx, tx`updated_at`)},
    jsonb_build_object('IDR', sum(fiat_minor)::text, 'AUSD', sum(ausd_micro)::text) as sums
  from payouts.payouts where ${predicate(tx, isOpenCashout(cashouts))} group by state order by state`

const operationStates = (tx: Sql) => tx<InState[]>`
  select 'operation' as what, state, count(*)::int as count, ${ages(tx, tx`created_at`)},
    jsonb_build_object('AUSD', coalesce(sum((${operationMicro(tx)})::numeric), 0)::text) as sums
  from chain_relayer.operation where ${predicate(tx, isOpenOperation(operations))}
  group by state order by state`

/** Returns the identity verdicts whose orders the chain has not confirmed. */
const identityStates = (tx: Sql) => tx<InState[]>`
  select 'identity' as what, state, count(*)::int as count, ${ages(tx, tx`updated_at`)},
    '{}'::jsonb as sums
  from gateway.identities where check_at is not null group by state order by state`

async function outboxOf(tx: Sql, schema: Messenger) {
  const [found] = await tx<{ waiting: number; oldestMs: number }[]>`
    select count(*)::int as waiting, coalesce(${ageMs(tx, tx`created_at`)}, 0) as "oldestMs"
    from ${tx(schema)}.outbox where published_at is null`
  return { service: serviceOf(schema), ...found! }
}

async function deadLettersOf(tx: Sql, schema: Messenger) {
  const [found] = await tx<{ count: number }[]>`
    select count(*)::int as count from ${tx(schema)}.dead_letter where redriven_at is null`
  return { service: serviceOf(schema), count: found!.count }
}
