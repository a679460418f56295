import { csvCell } from '#shared/csv'

/** Formats a table as CSV, whose first row names the columns. */
export const csvText = (columns: readonly string[], rows: readonly (readonly string[])[]): string =>
  [columns, ...rows].map((row) => row.map(csvCell).join(',')).join('\n')

/** Formats records as CSV, in the order of the columns. */
export const recordsCsv = <Column extends string>(
  columns: readonly Column[],
  records: readonly Readonly<Record<Column, string>>[],
): string =>
  csvText(
    columns,
    records.map((record) => columns.map((column) => record[column])),
  )
