import { type DayReport, periodOf, readDayReport, type Unsettled } from '#infra/operations/books/report'
import { dayLine } from '#infra/operations/cli/books'
import { type CommandResult, reading } from '#infra/operations/cli/command'
import { recordsCsv } from '#infra/operations/csv'
import { counted } from '#infra/operations/text'
import { amountText, plainAmount } from '#shared/money/text'

/**
 * Columns of the accounts, whose order is fixed; new columns go last. Amounts are exact decimals in major units of the
 * asset, so each column can be summed over the days of an account, and over the accounts of an asset.
 */
export const reportColumns = ['day', 'status', 'account', 'asset', 'opening', 'debits', 'credits', 'closing'] as const

/** Columns of the fiat that the provider had not settled at the end of the day, one row for each payment. */
export const unsettledColumns = [
  'day',
  'status',
  'item',
  'account',
  'asset',
  'received',
  'expected',
  'ausd_given',
] as const

type Row<Column extends string> = Readonly<Record<Column, string>>
type AccountRow = Row<(typeof reportColumns)[number]>
type UnsettledRow = Row<(typeof unsettledColumns)[number]>

export const report = reading({
  does: 'report a day of the books: balances and movements of every account, spread, fees, unsettled fiat',
  usage: 'report --day <yyyy-mm-dd> [--csv [--unsettled] | --json]',
  options: { day: { type: 'string' }, csv: { type: 'boolean' }, unsettled: { type: 'boolean' } },
  faultIn: (_, { day, csv, unsettled }) => {
    if (day === undefined) return '--day is required, such as 2026-11-24'
    if (unsettled && !csv) return '--unsettled selects the rows of --csv'
    return periodOf(String(day)) ? undefined : `--day ${day} is not a day of the calendar, such as 2026-11-24`
  },
  read: async ({ options }, { sql }): Promise<CommandResult> => {
    const day = String(options.day)
    const found = await readDayReport(sql, day, periodOf(day)!)
    if (!found) return { text: `${day} has not begun`, data: { day }, ok: false }
    const [accounts, unsettled] = [accountRows(found), unsettledRows(found)]
    const csv = options.unsettled ? recordsCsv(unsettledColumns, unsettled) : recordsCsv(reportColumns, accounts)
    return { text: options.csv ? csv : reportText(found), data: { ...found, accounts, unsettled }, ok: true }
  },
})

/** Returns the accounts as they are printed for programs. */
export const accountRows = ({ day, status, accounts }: DayReport): AccountRow[] =>
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

/** Returns the unsettled fiat as it is printed for programs. `expected` is empty if the provider had reported no day. */
export const unsettledRows = ({ day, status, unsettled }: DayReport): UnsettledRow[] =>
  unsettled.map(({ item, account, asset, received, expected, ausdGiven }) => ({
    day,
    status,
    item,
    account,
    asset,
    received: plainAmount(received, asset),
    expected: expected ?? '',
    ausd_given: plainAmount(ausdGiven, 'AUSD'),
  }))

/** Sums the unsettled fiat by asset and expected day. */
function unsettledLines(unsettled: readonly Unsettled[]): string[] {
  const groups = Map.groupBy(unsettled, ({ asset, expected }) => `${asset} ${expected ?? ''}`)
  return [...groups.values()].map((own) => {
    const { asset, expected } = own[0]!
    const received = own.reduce((sum, one) => sum + one.received, 0n)
    const given = own.reduce((sum, one) => sum + one.ausdGiven, 0n)
    const when = expected === null ? 'not reported by the provider' : `expected ${expected}`
    return `  ${asset.padEnd(4)} ${when}: ${amountText(received, asset)} of ${counted(own.length, 'payment')}, ${amountText(given, 'AUSD')} AUSD given`
  })
}

const line = (account: string, asset: string, ...amounts: string[]) =>
  `  ${account.padEnd(16)} ${asset.padEnd(4)} ${amounts.map((amount) => amount.padStart(28)).join(' ')}`

/** Formats the report for an operator, without the accounts that have no money and did not move. */
export function reportText({ day, timeZone, from, to, status, accounts, results, unsettled }: DayReport): string {
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
    ...(results.length > 0
      ? ['', 'spread, fees of users and fees of the provider of the day', ...results.map(dayLine)]
      : []),
    ...(unsettled.length > 0
      ? ['', 'received and not settled by the provider at the end', ...unsettledLines(unsettled)]
      : []),
  ].join('\n')
}
