import type { Sql, TransactionSql } from 'postgres'
import { type AccountName, type Asset, accountNames, chart, providerOf } from '#shared/ledger/chart'
import { countryBy } from '#shared/money/countries'
import { dayEndMs, dayName, homePair, namedDayStartMs } from '#shared/money/day'
import type { Fiat } from '#shared/money/money'
import type { ProviderAccount } from '#shared/money/pair'
import { type DayResult, readDayResults } from './balance-sheet'
import { lines } from './items'
import { commitsWithin, moment, readSpan } from './span'

/** One account in one asset, in its smallest unit. Debits raise the balance, credits lower it; both are positive. */
export type AccountDay = {
  readonly account: AccountName
  readonly asset: Asset
  readonly opening: bigint
  readonly debits: bigint
  readonly credits: bigint
  /** `opening` plus `debits` less `credits`, which is the opening of the next day. */
  readonly closing: bigint
}

/** Money of a payment that is in our books and not in the provider's balance, at the end of the day. */
export type Unsettled = {
  /** Payment, or the provider's id of money without one. */
  readonly item: string
  readonly account: AccountName
  readonly asset: Fiat
  /** Fiat received less refunds, in its smallest unit. */
  readonly received: bigint
  /** Day on which the provider expects to add it to the balance; null if its list had not reported one by the end of the day. */
  readonly expected: string | null
  /** AUSD that left the treasury for it, in 10⁻⁶. */
  readonly ausdGiven: bigint
}

/** The journals of one day, read by the time at which each line was booked. */
export type DayReport = {
  readonly day: string
  readonly timeZone: string
  readonly from: Date
  readonly to: Date
  /** `final`: every line of the day is visible, so the report never changes again. */
  readonly status: 'open' | 'final'
  /** Every account of the chart in each of its assets, in the order of the chart. */
  readonly accounts: readonly AccountDay[]
  readonly results: readonly DayResult[]
  /** The exposure at the end of the day: AUSD given for fiat that has yet to arrive. */
  readonly unsettled: readonly Unsettled[]
}

/** Zone of the days: the one by which the limits count everything that is not about money of one country. */
export const reportZone = countryBy('pair', homePair).timeZone

/** Returns the period of a day that is written `2026-11-24`. Returns undefined if the calendar has no such day. */
export function periodOf(day: string): { readonly from: Date; readonly to: Date } | undefined {
  const startMs = namedDayStartMs(homePair, day)
  if (startMs === undefined) return undefined
  return { from: new Date(startMs), to: new Date(dayEndMs(homePair, startMs)) }
}

/**
 * Reads the report of a day from the journals, which are only appended to. A correction is a line of its own, so it is in
 * the report of the day on which it was booked. Returns undefined if the day has not begun.
 */
export async function readDayReport(
  sql: Sql,
  day: string,
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<DayReport | undefined> {
  return await sql.begin('isolation level repeatable read read only', async (tx) => {
    const [clock] = await tx<{ begun: boolean; final: boolean }[]>`
      select ${from} <= now() as begun, ${to} <= now() - ${tx.unsafe(commitsWithin)} as final`
    if (!clock!.begun) return undefined
    const [start, end] = [from, to].map((one) => moment(one.toISOString())) as [string, string]
    const accounts = await readAccounts(tx, start, end)
    const results = await readDayResults(tx, start, end)
    const unsettled = await readUnsettled(tx, start, end)
    const status = clock!.final ? 'final' : 'open'
    return { day, timeZone: reportZone, from, to, status, accounts, results, unsettled }
  })
}

type Sums = { account: AccountName; asset: Asset; opening: string; debits: string; credits: string }

/**
 * Reads the accounts from `start` until before `end`. The opening balance is the totals of the books, corrected by the
 * lines between their checkpoint and `start`, in whichever direction.
 */
async function readAccounts(tx: TransactionSql, start: string, end: string): Promise<AccountDay[]> {
  const { since } = await readSpan(tx, false)
  const read = moment(since)
  const sums = await tx.unsafe<Sums[]>(`
    select account, asset, sum(opening)::text as opening, sum(debit)::text as debits, sum(credit)::text as credits
    from (
      select account, asset, amount as opening, 0 as debit, 0 as credit from books.totals where source <> 'chain'
      union all select account, asset, amount, 0, 0 from ${lines} l where booked_at >= ${read} and booked_at < ${start}
      union all select account, asset, -amount, 0, 0 from ${lines} l where booked_at >= ${start} and booked_at < ${read}
      union all select account, asset, 0, greatest(amount, 0), greatest(-amount, 0) from ${lines} l
        where booked_at >= ${start} and booked_at < ${end}
    ) l group by account, asset`)
  return accountNames.flatMap((account) =>
    chart[account].assets.map((asset: Asset) => {
      const found = sums.find((one) => one.account === account && one.asset === asset)
      const [opening, debits, credits] = [found?.opening, found?.debits, found?.credits].map((sum) => BigInt(sum ?? 0))
      return accountDay({ account, asset, opening: opening!, debits: debits!, credits: credits! })
    }),
  )
}

const accountDay = (sums: Omit<AccountDay, 'closing'>): AccountDay => ({
  ...sums,
  closing: sums.opening + sums.debits - sums.credits,
})

type UnsettledRow = {
  item: string
  account: (typeof providerOf)[ProviderAccount]
  settlesAt: Date | null
  received: string
  given: string
}

/**
 * Reads the payments that were pending in the provider's list as read before `end`, and those of the day whose settlement
 * it had not reported by then. Their money is that of the journals at `end`.
 */
async function readUnsettled(tx: TransactionSql, start: string, end: string): Promise<Unsettled[]> {
  const provider = `account in ('${Object.values(providerOf).join("', '")}')`
  const pending = await tx.unsafe<{ item: string; settlesAt: string | null }[]>(`
      select item, max(settles_at)::text as "settlesAt" from (
        select unnest(array[reference, product_id]) as item, settles_at from books.provider_moves
        where type = 'payment' and unsettled_read_at is not null and unsettled_read_at < ${end}
          and (settled_read_at is null or settled_read_at >= ${end})
      ) pending where item is not null group by item
      union all
      select distinct item, null from ${lines} l
      where journal = 'payments' and booked_at >= ${start} and booked_at < ${end} and ${provider} and amount > 0
        and not exists (select from books.provider_moves m where m.reference = l.item
          and (m.unsettled_read_at < ${end} or m.settled_read_at < ${end}))
        and not exists (select from books.provider_moves m where m.product_id = l.item
          and (m.unsettled_read_at < ${end} or m.settled_read_at < ${end}))`)
  // The items are values, because PostgreSQL reads the journals by index only if it knows how few there are.
  const found = await tx.unsafe<UnsettledRow[]>(
    `
    select u.item, u.settles_at as "settlesAt", min(account) filter (where ${provider}) as account,
      (sum(amount) filter (where ${provider}))::text as received,
      coalesce(-sum(amount) filter (where account = 'treasury'), 0)::text as given
    from unnest($1::text[], $2::timestamptz[]) u (item, settles_at) join ${lines} l on l.item = u.item
    where booked_at < ${end} group by u.item, u.settles_at
    having sum(amount) filter (where ${provider}) > 0 order by u.settles_at nulls last, u.item`,
    [pending.map(({ item }) => item), pending.map(({ settlesAt }) => settlesAt)],
  )
  return found.map(({ item, account, settlesAt, received, given }) => ({
    item,
    account,
    asset: chart[account].assets[0],
    received: BigInt(received),
    expected: settlesAt && dayName(homePair, settlesAt.getTime()),
    ausdGiven: BigInt(given),
  }))
}
