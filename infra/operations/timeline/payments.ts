import type { Sql } from 'postgres'
import { counted, factsOf, rateText, sentence } from '#infra/operations/text'
import { anomalyEntries } from '#infra/operations/timeline/anomalies'
import type { TimelineEntry, TimelinePart, TracedItem } from '#infra/operations/timeline/entry'
import { moneyText } from '#shared/money/text'

type Row = {
  id: string
  kind: 'topup' | 'settlement'
  state: string
  wallet: string
  pair: string
  currency: string
  rate: string
  fiat: string
  fee: string
  ausd: string
  method: string | null
  lateRate: string | null
  quoteId: string
  account: string
  checkoutId: string | null
  paymentRequestId: string | null
  providerPaymentId: string | null
  expiresAt: Date | null
  isOver: boolean
  channel: string | null
  held: boolean | null
  paid: string | null
  paidAt: Date | null
  creditedAt: Date | null
  holdEndedAt: Date | null
  refunded: string
  reason: string | null
  txHash: string | null
  nextCheckAt: Date | null
  checks: number
  createdAt: Date
  updatedAt: Date
  takenAt: Date | null
}

const readRows = (sql: Sql, ids: readonly string[]) => sql<Row[]>`
  select p.id, p.kind, p.state, p.wallet, p.pair, p.currency, rate_minor_per_usd::text as rate,
    fiat_minor::text as fiat, fee_minor::text as fee, ausd_micro::text as ausd, p.method,
    late_rate_minor_per_usd::text as "lateRate", quote_id as "quoteId", p.account,
    checkout_id as "checkoutId", payment_request_id as "paymentRequestId",
    provider_payment_id as "providerPaymentId", p.expires_at as "expiresAt",
    coalesce(p.expires_at <= now(), false) as "isOver", p.channel, p.held,
    paid_minor::text as paid, paid_at as "paidAt", credited_at as "creditedAt",
    hold_ended_at as "holdEndedAt", refunded_minor::text as refunded, p.reason,
    tx_hash as "txHash", next_check_at as "nextCheckAt", p.checks, p.created_at as "createdAt",
    p.updated_at as "updatedAt", t.taken_at as "takenAt"
  from payments.payments p left join pricing.quotes_taken t on t.id::text = p.quote_id
  where p.id = any(${[...ids]})`

export async function readPayments(sql: Sql, ids: readonly string[]): Promise<TimelinePart> {
  if (ids.length === 0) return {}
  const rows = await readRows(sql, ids)
  const providerIds = rows.flatMap(({ providerPaymentId }) => providerPaymentId ?? [])
  return {
    items: rows.map(itemOf),
    entries: [
      ...rows.flatMap(entriesOf),
      ...(await refundsOf(sql, providerIds)),
      ...(await reversalsOf(sql, ids)),
      ...(await anomaliesOf(sql, ids)),
    ],
  }
}

const itemOf = (row: Row): TracedItem => ({
  kind: row.kind,
  id: row.id,
  wallet: row.wallet,
  state: row.state,
  reason: row.reason,
  createdAt: row.createdAt,
  facts: factsOf({
    pays: moneyText(row.fiat, row.currency),
    fee: row.fee === '0' ? null : moneyText(row.fee, row.currency),
    for: moneyText(row.ausd, 'AUSD'),
    rate: rateText(row.lateRate ?? row.rate, row.currency),
    quote: row.quoteId,
    account: row.account,
    checkout: row.checkoutId,
    request: row.paymentRequestId,
    payment: row.providerPaymentId,
    channel: row.channel,
    transaction: row.txHash,
    'open until': row.isOver || row.paidAt ? undefined : row.expiresAt?.toISOString(),
    'next check': row.nextCheckAt?.toISOString(),
  }),
})

function entriesOf(row: Row): TimelineEntry[] {
  const { id, currency, expiresAt, isOver, paidAt, creditedAt, holdEndedAt } = row
  const entry = (at: Date, what: string, says: string, isOdd = false): TimelineEntry => ({
    at,
    where: 'payments',
    what,
    id,
    says,
    isOdd,
  })
  const name = row.kind === 'topup' ? 'top-up' : 'settlement'
  const promise = `${name} of ${moneyText(row.fiat, currency)} for ${moneyText(row.ausd, 'AUSD')}`
  return [
    ...(row.takenAt ? [takenOf(row.quoteId, row.takenAt, rateText(row.rate, row.currency))] : []),
    entry(row.createdAt, 'row', sentence(promise, row.method && `by ${row.method}`)),
    ...(expiresAt && isOver && !paidAt ? [entry(expiresAt, 'row', 'checkout expired')] : []),
    ...(paidAt
      ? [
          entry(
            paidAt,
            'paid',
            sentence(
              `${moneyText(row.paid ?? row.fiat, currency)} by ${row.channel}`,
              row.held ? 'held: may still be reversed' : 'not held',
              row.paid !== null && row.paid !== row.fiat && 'amount differs from the checkout',
            ),
            row.paid !== null && row.paid !== row.fiat,
          ),
        ]
      : []),
    ...(creditedAt ? [entry(creditedAt, 'row', 'confirmed on the chain')] : []),
    ...(holdEndedAt ? [entry(holdEndedAt, 'row', 'hold ended')] : []),
    entry(
      row.updatedAt,
      'state',
      sentence(
        row.state,
        row.reason,
        row.checks > 0 && `checked ${counted(row.checks, 'time')} since`,
        row.nextCheckAt && `next check ${row.nextCheckAt.toISOString()}`,
      ),
      row.state === 'review',
    ),
  ]
}

export const takenOf = (id: string, at: Date, rate: string): TimelineEntry => ({
  at,
  where: 'pricing',
  what: 'quote',
  id,
  says: `taken at ${rate}`,
})

type Refund = { id: string; refunded: string | null; status: string; origin: string; dueAt: Date | null; at: Date }

async function refundsOf(sql: Sql, providerIds: readonly string[]): Promise<TimelineEntry[]> {
  const rows = await sql<(Refund & { currency: string })[]>`
    select r.id, r.refunded_minor::text as refunded, r.status, r.origin, r.updated_at as at,
      r.evidence_due_at as "dueAt", coalesce(p.currency, '') as currency
    from payments.refunds r left join payments.payments p on p.id = r.payment_id
    where r.provider_payment_id = any(${[...providerIds]})`
  return rows.map(({ id, refunded, status, origin, dueAt, at, currency }) => ({
    at,
    where: 'payments',
    what: origin,
    id,
    isOdd: true,
    says: sentence(
      `${origin === 'chargeback' ? 'dispute' : 'refund'} of ${refunded === null ? 'an unknown amount' : moneyText(refunded, currency)}: ${status}`,
      dueAt && `evidence due ${dueAt.toISOString()}`,
    ),
  }))
}

async function reversalsOf(sql: Sql, ids: readonly string[]): Promise<TimelineEntry[]> {
  const rows = await sql<{ id: string; lost: string; good: string; cleared: Date | null }[]>`
    select payment_id as id, lost_micro::text as lost, made_good_micro::text as good,
      cleared_at as cleared
    from payments.reversals where payment_id = any(${[...ids]})`
  return rows.map(({ id, lost, good, cleared }) => ({
    at: cleared,
    where: 'payments',
    what: 'loss',
    id,
    isOdd: true,
    says: sentence(
      `${moneyText(lost, 'AUSD')} lost after the hold`,
      `${moneyText(good, 'AUSD')} recovered`,
      cleared && 'written off',
    ),
  }))
}

async function anomaliesOf(sql: Sql, ids: readonly string[]): Promise<TimelineEntry[]> {
  const rows = await sql<{ kind: string; object: string; at: Date }[]>`
    select kind, object, noticed_at as at from payments.anomalies
    where payment_id = any(${[...ids]})`
  return anomalyEntries('payments', rows)
}
