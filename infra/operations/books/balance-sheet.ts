import type { Sql, TransactionSql } from 'postgres'
import { type AccountName, type Asset, accountNames, assets, chart } from '#shared/ledger/chart'
import { lines as allLines, touchedItems } from './items'
import { type Break, openBreaks } from './judge'
import { type BookSpan, moment, readSpan } from './span'

/**
 * One account in one asset. Debits are positive. `outside` is the balance that chain or provider reported; the credit
 * line has none, because its contract also holds its users' money and its pool.
 */
export type SheetLine = {
  readonly account: AccountName
  readonly asset: Asset
  readonly balance: bigint
  readonly outside: bigint | undefined
  /** Age of that balance, or of the oldest of several, in ms. */
  readonly outsideAgeMs: number | undefined
}

/** Money of an item that is in progress or needs a decision. */
export type OpenItem = {
  readonly item: string
  readonly account: AccountName
  readonly asset: Asset
  readonly amount: bigint
}

/** Spread, users' fees and provider fees that were booked within a day, in minor units of the asset. */
export type DayResult = {
  readonly asset: Asset
  /** Spread kept from payers and payees, less that given to payees. */
  readonly earned: bigint
  /** Fees that users paid. */
  readonly feesEarned: bigint
  readonly fees: bigint
  /** Number of the provider's transactions that cost these fees. */
  readonly transactions: number
}

export type Sheet = {
  readonly lines: readonly SheetLine[]
  readonly day: readonly DayResult[]
  readonly items: readonly OpenItem[]
  readonly breaks: readonly Break[]
  readonly closed: boolean
}

/** Accounts that hold money of items in progress. */
const waiting = ['promises', 'payouts', 'returns', 'suspense'] as const
const listed: readonly AccountName[] = [...waiting, 'clawback', 'owed_back']

/** Reads the sheet. It creates nothing, so that it can be read while Postgres is read only. */
export async function readSheet(sql: Sql): Promise<Sheet> {
  return await sql.begin('isolation level repeatable read read only', async (tx) => {
    const span = await readSpan(tx, false)
    const sums = await tx.unsafe<{ account: AccountName; asset: Asset; amount: string }[]>(`
      select account, asset, sum(amount)::text as amount from (
        select account, asset, amount from books.totals where source <> 'chain'
        union all select account, asset, amount from ${allLines} l where booked_at >= ${moment(span.since)}
      ) l group by account, asset having sum(amount) <> 0`)
    const read = await tx<{ place: string; asset: Asset; amount: string; ageMs: number }[]>`
      select split_part(place, ':', 1) as place, asset, sum(amount)::text as amount,
        greatest(0, extract(epoch from now() - min(read_at)) * 1000)::float8 as "ageMs"
      from books.balances where place not in ('credit_line', 'credit_line_owes') group by 1, 2`
    const breaks = await openBreaks(tx)
    const day = await readDayResults(tx, "now() - interval '1 day'", "'infinity'")
    const lines = accountNames.flatMap((account) =>
      chart[account].assets.flatMap((asset: Asset) => {
        const isOf = (one: { asset: Asset }) => one.asset === asset
        const booked = sums.find((one) => one.account === account && isOf(one))
        const place = account === 'lanes' ? 'lane' : account
        const outside = read.find((one) => one.place === place && isOf(one))
        if (!booked && !outside) return []
        const balance = BigInt(booked?.amount ?? 0)
        return [{ account, asset, balance, outside: outside && BigInt(outside.amount), outsideAgeMs: outside?.ageMs }]
      }),
    )
    return { lines, breaks, day, closed: isClosed(lines, breaks), items: await readItems(tx, span, lines) }
  })
}

/**
 * Reads the open items of the accounts: those that changed since the last comparison and, in an account whose balance they
 * do not explain, all of them. A debt or a payment in review may be older.
 */
async function readItems(tx: TransactionSql, span: BookSpan, lines: readonly SheetLine[]): Promise<OpenItem[]> {
  const touched = await tx.unsafe<{ item: string }[]>(touchedItems(span))
  const ids = [...new Set(touched.map(({ item }) => ownerOf(item)))]
  const recent = await itemsWhere(tx, tx`item = any(${[...ids, ...ids.map((id) => `${id}/reversal`)]})`, listed)
  const isExplained = (account: AccountName) =>
    chart[account].assets.every((asset: Asset) => {
      const isOf = (one: { account: AccountName; asset: Asset }) => one.account === account && one.asset === asset
      const balance = lines.find(isOf)?.balance ?? 0n
      return recent.filter(isOf).reduce((sum, { amount }) => sum + amount, 0n) === balance
    })
  const others = listed.filter((account) => !isExplained(account))
  const all = others.length === 0 ? [] : await itemsWhere(tx, tx`true`, others)
  const found = [...recent.filter(({ account }) => !others.includes(account)), ...all]
  return found.toSorted((one, two) => (orderOf(one) < orderOf(two) ? -1 : 1))
}

/** Write-offs of a payment are booked under `<payment>/reversal`. */
const ownerOf = (item: string): string => item.split('/')[0]!
const orderOf = ({ account, item }: OpenItem) => `${account} ${item}`

async function itemsWhere(
  tx: TransactionSql,
  where: ReturnType<TransactionSql>,
  accounts: readonly AccountName[],
): Promise<OpenItem[]> {
  const found = await tx<{ item: string; account: AccountName; asset: Asset; amount: string }[]>`
    select split_part(item, '/', 1) as item, account, asset, sum(amount)::text as amount
    from ${tx.unsafe(allLines)} l where ${where} and account in ${tx([...accounts])}
    group by 1, account, asset having sum(amount) <> 0`
  return found.map((one) => ({ ...one, amount: BigInt(one.amount) }))
}

type DayRow = { asset: Asset; earned: string; feesEarned: string; fees: string; transactions: number }

/** Reads spread, users' fees and provider fees that were booked from one time until before another, both in SQL. */
export async function readDayResults(tx: TransactionSql, from: string, to: string): Promise<DayResult[]> {
  const found = await tx.unsafe<DayRow[]>(`
    select asset, (-coalesce(sum(amount) filter (where account = 'spread'), 0))::text as earned,
      (-coalesce(sum(amount) filter (where account = 'fees_earned'), 0))::text as "feesEarned",
      coalesce(sum(amount) filter (where account = 'fees'), 0)::text as fees,
      (count(distinct item) filter (where account = 'fees'))::int as transactions
    from ${allLines} l where booked_at >= ${from} and booked_at < ${to} and account in ('spread', 'fees_earned', 'fees')
    group by asset order by asset`)
  return found.map((one) => ({
    ...one,
    earned: BigInt(one.earned),
    feesEarned: BigInt(one.feesEarned),
    fees: BigInt(one.fees),
  }))
}

const sumOf = (lines: readonly SheetLine[]) => lines.reduce((sum, { balance }) => sum + balance, 0n)

/** Returns true if nothing is open. A break that an operator explained still counts as open. */
const isClosed = (lines: readonly SheetLine[], breaks: readonly Break[]): boolean =>
  breaks.length === 0 &&
  assets.every((asset) => sumOf(lines.filter((line) => line.asset === asset)) === 0n) &&
  lines.every(({ account, balance }) => balance === 0n || !waiting.some((one) => one === account))
