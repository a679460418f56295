import type { Sql } from 'postgres'
import { outcomeOfCommand } from '#infra/operations/audit-log/outcome'
import { sentence } from '#infra/operations/text'
import type { Roots, TimelineEntry, TimelinePart } from '#infra/operations/timeline/entry'
import { moneyText } from '#shared/money/text'

const journals = ['payments', 'payouts', 'chain_relayer', 'books'] as const

export async function readBooks(sql: Sql, roots: Roots): Promise<TimelinePart> {
  const items = [...roots.payments, ...roots.cashouts, ...roots.operations, ...roots.others]
  if (items.length === 0) return {}
  const found = await Promise.all([
    ...journals.map((schema) => postingsOf(sql, schema, items)),
    movesOf(sql, items),
    listedOf(sql, items),
    breaksOf(sql, items),
    commandsOf(sql, items),
  ])
  return { entries: found.flat() }
}

type PostingLine = { account: string; asset: string; amount: string }

async function postingsOf(
  sql: Sql,
  schema: (typeof journals)[number],
  items: readonly string[],
): Promise<TimelineEntry[]> {
  const rows = await sql<{ posting: string; event: string; at: Date; lines: PostingLine[]; isReversal: boolean }[]>`
    select posting, event, min(booked_at) as at, bool_or(reverses is not null) as "isReversal",
      jsonb_agg(jsonb_build_object('account', account, 'asset', asset, 'amount', amount::text)
        order by line) as lines
    from ${sql(schema)}.journal where item = any(${[...items]}) group by posting, event`
  return rows.map(({ posting, event, at, lines, isReversal }) => ({
    at,
    where: schema === 'chain_relayer' ? 'chain-relayer' : schema,
    what: 'booked',
    id: posting,
    says: `${event}: ${lines.map(lineOf).join('; ')}`,
    isOdd: isReversal,
  }))
}

const lineOf = ({ account, asset, amount }: PostingLine) => {
  const isDebit = !amount.startsWith('-')
  return `${isDebit ? 'debit' : 'credit'} ${account} ${moneyText(amount.replace('-', ''), asset)}`
}

async function movesOf(sql: Sql, items: readonly string[]): Promise<TimelineEntry[]> {
  const rows = await sql<{ txHash: string; log: number; kind: string; ausd: string; held: boolean; at: Date }[]>`
    select m.tx_hash as "txHash", m.log_index as log, m.kind, m.ausd_micro::text as ausd, m.held,
      m.moved_at as at
    from books.chain_moves m join books.names n on n.key = m.key
    where n.item = any(${[...items]})
    union select tx_hash, log_index, kind, ausd_micro::text, held, moved_at
    from books.chain_moves where tx_hash = any(${items.map((item) => item.split(':')[0]!)})`
  return rows.map(({ txHash, log, kind, ausd, held, at }) => ({
    at,
    where: 'chain',
    what: kind,
    id: `${txHash}:${log}`,
    says: sentence(moneyText(ausd, 'AUSD'), held && 'held'),
  }))
}

/** Returns the rows of the provider's list, as the books last recorded them. */
async function listedOf(sql: Sql, items: readonly string[]): Promise<TimelineEntry[]> {
  const rows = await sql<
    {
      id: string
      type: string
      status: string
      amount: string | null
      currency: string | null
      productId: string | null
      at: Date | null
    }[]
  >`
    select transaction_id as id, type, status, amount_minor::text as amount, currency,
      product_id as "productId", coalesce(created_at, read_at) as at
    from books.provider_moves where reference = any(${[...items]})`
  return rows.map(({ id, type, status, amount, currency, productId, at }) => ({
    at,
    where: 'provider',
    what: type,
    id,
    says: sentence(status, amount && currency && moneyText(amount, currency), productId),
  }))
}

async function breaksOf(sql: Sql, items: readonly string[]): Promise<TimelineEntry[]> {
  const rows = await sql<{ id: string; rule: string; about: string; foundAt: Date; closedAt: Date | null }[]>`
    select id::text, rule, about, found_at as "foundAt", closed_at as "closedAt"
    from books.breaks where item = any(${[...items]})`
  return rows.map(({ id, rule, about, foundAt, closedAt }) => ({
    at: foundAt,
    where: 'books',
    what: 'break',
    id,
    isOdd: closedAt === null,
    says: sentence(`${rule}: ${about}`, closedAt && `closed ${closedAt.toISOString()}`),
  }))
}

async function commandsOf(sql: Sql, items: readonly string[]): Promise<TimelineEntry[]> {
  const rows = await sql<{ id: string; verb: string; reason: string; by: string; at: Date; said: string | null }[]>`
    select d.id::text, d.verb, d.reason, d.asked_by as by, coalesce(o.recorded_at, d.asked_at) as at,
      nullif(o.outcome, 'unknown') || ': ' || o.said ||
        case when o.asked_by <> d.asked_by then ' (asked again by ' || o.asked_by || ': ' || o.reason || ')' else '' end as said
    from ops.commands d left join lateral (${outcomeOfCommand(sql)}) o on true
    where d.target = any(${[...items]})`
  return rows.map(({ id, verb, reason, by, at, said }) => ({
    at,
    where: 'operators',
    what: 'command',
    id,
    says: sentence(`${by} requested ${verb} (${reason})`, said ?? 'outcome unknown'),
    isOdd: said === null,
  }))
}
