import type { Sql, TransactionSql } from 'postgres'
import { type AccountName, type Asset, accountNames, chart } from '#shared/ledger/chart'
import { countryBy } from '#shared/money/countries'
import { dayEndMs, homePair, namedDayStartMs } from '#shared/money/day'
import { type DayResult, readDayResults } from './balance-sheet'
import { linesView } from './items'
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
  return await sql.begin('isolation level repeatable read', async (tx) => {
    const [clock] = await tx<{ begun: boolean; final: boolean }[]>`
      select ${from} <= now() as begun, ${to} <= now() - ${tx.unsafe(commitsWithin)} as final`
    if (!clock!.begun) return undefined
    await tx.unsafe(linesView)
    const [start, end] = [from, to].map((one) => moment(one.toISOString())) as [string, string]
    const accounts = await readAccounts(tx, start, end)
    const results = await readDayResults(tx, start, end)
    return { day, timeZone: reportZone, from, to, status: clock!.final ? 'final' : 'open', accounts, results }
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
      union all select account, asset, amount, 0, 0 from lines where booked_at >= ${read} and booked_at < ${start}
      union all select account, asset, -amount, 0, 0 from lines where booked_at >= ${start} and booked_at < ${read}
      union all select account, asset, 0, greatest(amount, 0), greatest(-amount, 0) from lines
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
