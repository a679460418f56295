/** Rule for rows that are removed after `keptDays`. Its SQL refers to the table as `t`. */
export type RetentionRule = {
  readonly table: string
  readonly of?: string
  readonly key: Readonly<Record<string, string>>
  /** Indexed time column from which the age counts. Without it, rows are read in key order. */
  readonly since?: string
  readonly keptDays: number
  readonly which?: string
  /** New values of the columns that are emptied instead of deleting the row. */
  readonly empties?: Readonly<Record<string, string>>
  readonly spared?: string
  /** Columns, by table, that these conditions read. */
  readonly reads?: Readonly<Record<string, readonly string[]>>
}

export const nameOf = ({ table, of }: RetentionRule): string => (of ? `${table} of ${of}` : table)

/** Returns the condition that a row is old enough by the database clock. */
const agedOf = ({ since, keptDays, which }: RetentionRule): string =>
  [which, since && `t.${since} < now() - interval '${keptDays} days'`].filter(Boolean).join(' and ')

/**
 * Returns the statement of a batch. It checks the age again at the deletion, because a row may have changed since it
 * was read.
 */
export function batchText(rule: RetentionRule, rowsMax: number, goesOn: boolean): string {
  const { table, key, since, spared, empties } = rule
  const walk = { ...(since && { [since]: 'timestamptz' }), ...key }
  const columns = Object.keys(walk)
  const row = columns.map((column) => `t.${column}`).join(', ')
  const last = Object.values(walk).map((type, at) => `$${at + 1}::text::${type}`)
  const isSame = Object.keys(key).map((column) => `t.${column} = aged.${column}`)
  const aged = agedOf(rule)
  const set = Object.entries(empties ?? {}).map(([column, value]) => `${column} = ${value}`)
  const remove = empties ? `update ${table} t set ${set.join(', ')} from` : `delete from ${table} t using`
  return `
    with aged as materialized (
      select ${row} from ${table} t
      where ${aged}${goesOn ? ` and (${row}) > (${last.join(', ')})` : ''}
      order by ${row} limit ${rowsMax}
    ), gone as (
      ${remove} aged
      where ${isSame.join(' and ')} and ${aged}${spared ? ` and not (${spared})` : ''}
      returning 1
    )
    select (select count(*)::int from aged) as seen, (select count(*)::int from gone) as removed,
      (select array[${columns.map((column) => `${column}::text`).join(', ')}] from aged
        order by ${columns.map((column) => `${column} desc`).join(', ')} limit 1) as last`
}
