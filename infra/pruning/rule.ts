/** What may be removed of one table, when, and what keeps a row all the same. SQL speaks of its rows as `t`. */
export type Rule = {
  /** `schema.table`. */
  readonly table: string
  /** Of a table with several rules: which rows this one is about. */
  readonly of?: string
  /** The columns that name a row, and their types. */
  readonly key: Readonly<Record<string, string>>
  /** Since when a row counts as old: a time, which an index walks. Left out: an index walks the key. */
  readonly since?: string
  /** How old it has to be. */
  readonly keptDays: number
  /** Which rows at all. */
  readonly which?: string
  /** Which of the old rows stay. */
  readonly spared?: string
  /** What is read of other tables for that, column by column. */
  readonly reads?: Readonly<Record<string, readonly string[]>>
}

/** The name of a rule in log lines. */
export const nameOf = ({ table, of }: Rule): string => (of ? `${table} of ${of}` : table)

/** Which rows are old enough, by the clock of the database. */
const agedOf = ({ since, keptDays, which }: Rule): string =>
  [which, since && `t.${since} < now() - interval '${keptDays} days'`].filter(Boolean).join(' and ')

/**
 * The next rows behind the last one, and of them those gone that nothing spares; one statement. A row
 * is looked at again as it is removed: one that was changed meanwhile is not old any more.
 */
export function batchText(rule: Rule, rowsMax: number, goesOn: boolean): string {
  const { table, key, since, spared } = rule
  const walk = { ...(since && { [since]: 'timestamptz' }), ...key }
  const columns = Object.keys(walk)
  const row = columns.map((column) => `t.${column}`).join(', ')
  const last = Object.values(walk).map((type, at) => `$${at + 1}::text::${type}`)
  const isSame = Object.keys(key).map((column) => `t.${column} = aged.${column}`)
  const aged = agedOf(rule)
  return `
    with aged as materialized (
      select ${row} from ${table} t
      where ${aged}${goesOn ? ` and (${row}) > (${last.join(', ')})` : ''}
      order by ${row} limit ${rowsMax}
    ), gone as (
      delete from ${table} t using aged
      where ${isSame.join(' and ')} and ${aged}${spared ? ` and not (${spared})` : ''}
      returning 1
    )
    select (select count(*)::int from aged) as seen, (select count(*)::int from gone) as removed,
      (select array[${columns.map((column) => `${column}::text`).join(', ')}] from aged
        order by ${columns.map((column) => `${column} desc`).join(', ')} limit 1) as last`
}
