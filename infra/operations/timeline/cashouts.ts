import type { Sql } from 'postgres'
import { counted, factsOf, rateText, sentence } from '#infra/operations/text'
import { anomalyEntries } from '#infra/operations/timeline/anomalies'
import type { TimelineEntry, TimelinePart, TracedItem } from '#infra/operations/timeline/entry'
import { takenOf } from '#infra/operations/timeline/payments'
import { moneyText } from '#shared/money/text'
import { unpaidStates } from '../../../services/payouts/cashout'

// Account number and holder are encrypted in the row and are not read here.

type Row = {
  id: string
  wallet: string
  state: string
  rate: string
  ausd: string
  fiat: string
  quoteId: string
  channelCode: string
  providerPayoutId: string | null
  providerStatus: string | null
  failureCode: string | null
  reason: string | null
  takeTxHash: string | null
  returnTxHash: string | null
  attempts: number
  attemptedAt: Date | null
  paidAt: Date | null
  nextCheckAt: Date | null
  checks: number
  createdAt: Date
  updatedAt: Date
  takenAt: Date | null
  held: boolean
  refusedAccount: string | null
  refusedSince: Date | null
  refusedBy: string | null
  refusedFor: string | null
}

const readRows = (sql: Sql, ids: readonly string[]) => sql<Row[]>`
  select p.id, p.wallet, p.state, rate_minor_per_usd::text as rate, ausd_micro::text as ausd,
    fiat_minor::text as fiat, quote_id as "quoteId", p.channel_code as "channelCode",
    provider_payout_id as "providerPayoutId", provider_status as "providerStatus",
    failure_code as "failureCode", p.reason, take_tx_hash as "takeTxHash",
    return_tx_hash as "returnTxHash", p.attempts, attempted_at as "attemptedAt",
    paid_at as "paidAt", next_check_at as "nextCheckAt", p.checks,
    p.created_at as "createdAt", p.updated_at as "updatedAt", t.taken_at as "takenAt", held_by_operator as held,
    r.account as "refusedAccount", r.since as "refusedSince", r.set_by as "refusedBy", r.reason as "refusedFor"
  from payouts.payouts p left join pricing.quotes_taken t on t.id::text = p.quote_id
  left join payouts.refused_accounts r on r.since is not null and p.account_mark = any(r.marks)
  where p.id = any(${[...ids]})`

export async function readCashouts(sql: Sql, ids: readonly string[]): Promise<TimelinePart> {
  if (ids.length === 0) return {}
  const rows = await readRows(sql, ids)
  return { items: rows.map(itemOf), entries: [...rows.flatMap(entriesOf), ...(await anomaliesOf(sql, ids))] }
}

async function anomaliesOf(sql: Sql, ids: readonly string[]): Promise<TimelineEntry[]> {
  const rows = await sql<{ kind: string; object: string; says: string; at: Date }[]>`
    select kind, object, says, noticed_at as at from payouts.anomalies
    where payout_id = any(${[...ids]})`
  return anomalyEntries('payouts', rows)
}

const itemOf = (row: Row): TracedItem => ({
  kind: 'cashout',
  id: row.id,
  wallet: row.wallet,
  state: row.state,
  reason: row.reason,
  createdAt: row.createdAt,
  facts: factsOf({
    takes: moneyText(row.ausd, 'AUSD'),
    pays: moneyText(row.fiat, 'IDR'),
    rate: rateText(row.rate, 'IDR'),
    quote: row.quoteId,
    bank: row.channelCode,
    payout: row.providerPayoutId,
    'provider status': row.providerStatus,
    failure: row.failureCode,
    taken: row.takeTxHash,
    returned: row.returnTxHash,
    'next check': row.nextCheckAt?.toISOString(),
    held: row.held && isUnpaid(row) ? 'by an operator: cashouts release or cancel' : undefined,
    'refused account': row.refusedAccount,
  }),
})

const isUnpaid = ({ state }: Row) => [...unpaidStates].some((one) => one === state)

function entriesOf(row: Row): TimelineEntry[] {
  const { id, attemptedAt, paidAt } = row
  const entry = (at: Date, what: string, says: string, isOdd = false): TimelineEntry => ({
    at,
    where: 'payouts',
    what,
    id,
    says,
    isOdd,
  })
  const promise = `cash-out of ${moneyText(row.ausd, 'AUSD')} for ${moneyText(row.fiat, 'IDR')}`
  return [
    ...(row.takenAt ? [takenOf(row.quoteId, row.takenAt, rateText(row.rate, 'IDR'))] : []),
    entry(row.createdAt, 'row', `${promise} to ${row.channelCode}`),
    ...(attemptedAt
      ? [
          entry(
            attemptedAt,
            'call',
            `payout requested from the provider: attempt ${row.attempts}, same idempotency key`,
            row.attempts > 1,
          ),
        ]
      : []),
    ...(paidAt ? [entry(paidAt, 'paid', `${moneyText(row.fiat, 'IDR')} reached the bank`)] : []),
    ...(row.refusedSince
      ? [entry(row.refusedSince, 'refused', `its bank account is refused by ${row.refusedBy}: ${row.refusedFor}`, true)]
      : []),
    entry(
      row.updatedAt,
      'state',
      sentence(
        row.state,
        row.held && isUnpaid(row) && 'held by an operator',
        row.reason,
        row.failureCode,
        row.checks > 0 && `checked ${counted(row.checks, 'time')} since`,
        row.nextCheckAt && `next check ${row.nextCheckAt.toISOString()}`,
      ),
    ),
  ]
}
