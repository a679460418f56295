import { type DayReport, periodOf, readDayReport } from '#infra/operations/books/report'
import { dayLine } from '#infra/operations/cli/books'
import { type CommandResult, reading } from '#infra/operations/cli/command'
import { csvText } from '#infra/operations/csv'
import { amountText, plainAmount } from '#shared/money/text'

/**
 * Columns of the accounts, whose order is fixed; new columns go last. Amounts are exact decimals in major units of the
 * asset, so each column can be summed over the days of an account, and over the accounts of an asset.
 */
export const reportColumns = ['day', 'status', 'account', 'asset', 'opening', 'debits', 'credits', 'closing'] as const

type ReportRow = Readonly<Record<(typeof reportColumns)[number], string>>

export const report = reading({
  does: 'report a day of the books: balances and movements of every account, spread, fees',
  usage: 'report --day <yyyy-mm-dd> [--csv | --json]',
  options: { day: { type: 'string' }, csv: { type: 'boolean' } },
  faultIn: (_, { day }) => {
    if (day === undefined) return '--day is required, such as 2026-11-24'
    return periodOf(String(day)) ? undefined : `--day ${day} is not a day of the calendar, such as 2026-11-24`
  },
  read: async ({ options }, { sql }): Promise<CommandResult> => {
    const day = String(options.day)
    const found = await readDayReport(sql, day, periodOf(day)!)
    if (!found) return { text: `${day} has not begun`, data: { day }, ok: false }
    const accounts = reportRows(found)
    return {
      text: options.csv ? reportCsv(accounts) : reportText(found),
      data: { ...found, accounts },
      ok: true,
    }
  },
})

/** Returns the accounts as they are printed for programs. */
export const reportRows = ({ day, status, accounts }: DayReport): ReportRow[] =>
  accounts.map(({ account, asset, opening, debits, credits, closing }) => ({
    day,
    status,
    account,
    asset,
    opening: plainAmount(opening, asset),
    debits: plainAmount(debits, asset),
    credits: plainAmount(credits, asset),
    closing: plainAmount(closing, asset),
  }))

export const reportCsv = (rows: readonly ReportRow[]): string =>
  csvText(
    reportColumns,
    rows.map((row) => reportColumns.map((column) => row[column])),
  )

const line = (account: string, asset: string, ...amounts: string[]) =>
  `  ${account.padEnd(16)} ${asset.padEnd(4)} ${amounts.map((amount) => amount.padStart(28)).join(' ')}`

/** Formats the report for an operator, without the accounts that have no money and did not move. */
export function reportText({ day, timeZone, from, to, status, accounts, results }: DayReport): string {
  const shown = accounts.filter(({ opening, debits, credits }) => opening !== 0n || debits !== 0n || credits !== 0n)
  return [
    `${day} in ${timeZone}, ${from.toISOString()} to ${to.toISOString()}`,
    ...(status === 'open' ? ['the day is still open: its figures change until ten minutes after its end'] : []),
    '',
    line('account', '', 'opening', 'debits', 'credits', 'closing'),
    ...shown.map(({ account, asset, opening, debits, credits, closing }) =>
      line(account, asset, ...[opening, debits, credits, closing].map((amount) => amountText(amount, asset))),
    ),
    ...(shown.length === 0 ? ['  nothing was ever booked'] : []),
    ...(results.length > 0 ? ['', 'spread and provider fees of the day', ...results.map(dayLine)] : []),
  ].join('\n')
}
