import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '#platform/db/open'
import type { PersonPage, PersonPlace, PersonRow } from '#shared/messages/person'

export type Run = (statement: SQL) => Promise<readonly Record<string, unknown>[]>

type Column = { readonly name: string; readonly type: string; readonly keyAt: number | null }

/** A table with rows about people; `of` is the condition for one wallet's rows. */
export type PersonTable = {
  readonly name: string
  readonly columns: readonly Column[]
  readonly of: (wallet: string) => SQL
  /** Decrypts `bank_details`. Without it, only their presence is shown. */
  readonly unseal?: Unseal
}

/** Decrypts values, which only the service with the key can do. */
export type Unseal = (values: PersonRow['values']) => PersonRow['values']

/**
 * Columns with operators' names and notes, which can name other people, and with wallets of people who may only look
 * alike.
 */
export const operatorsOnly: ReadonlySet<string> = new Set([
  ...['decided_by', 'reason'].map((column) => `payments.resolutions.${column}`),
  ...['asked_by', 'reason'].map((column) => `chain_relayer.giveback_request.${column}`),
  ...['identities.same_as', 'identities.named', 'persons.linked_to'].map((name) => `gateway.${name}`),
])

/** Columns that refer to an item of a wallet, in the table of that name in the schema. */
const itemColumns = { payment_id: 'payments', payout_id: 'payouts' } as const
/** Journals, in which the column is called `item`. */
const journals: readonly string[] = Object.values(itemColumns).map((schema) => `${schema}.journal`)

/** Returns the condition for one wallet's rows, or undefined if the table has no rows about wallets. */
function conditionOf(table: string, names: ReadonlySet<string>): PersonTable['of'] | undefined {
  const serving = names.has('generation')
    ? sql` and t.generation in (select generation from indexer_reader.cursors where state = 'serving')`
    : sql``
  if (names.has('wallet')) return (wallet) => sql`t.wallet = ${wallet}${serving}`
  const isJournal = journals.includes(table)
  const [column] = Object.entries(itemColumns).filter(([name]) => names.has(name))
  if (!column && !isJournal) return undefined
  const [name, schema] = column ?? ['item', table.split('.')[0]!]
  const owner = sql.raw(`${schema}.${schema}`)
  return (wallet) => sql`t.${sql.identifier(name)} in (select id from ${owner} where wallet = ${wallet})`
}

/** Finds tables by their columns, so that new ones are included. `hidden` has the columns to leave out. */
export async function findPersonTables(
  run: Run,
  schemas: readonly string[],
  hidden: ReadonlySet<string>,
): Promise<readonly PersonTable[]> {
  const found = (await run(sql`
    select n.nspname || '.' || c.relname as "table", a.attname as name,
      format_type(a.atttypid, null) as type, array_position(i.indkey::int2[], a.attnum) as "keyAt"
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    join pg_index i on i.indrelid = c.oid and i.indisprimary
    where n.nspname in (${sql.join(
      schemas.map((schema) => sql`${schema}`),
      sql`, `,
    )}) and c.relkind = 'r'
    order by (n.nspname || '.' || c.relname) collate "C", a.attnum`)) as readonly (Column & {
    table: string
  })[]
  const byTable = Map.groupBy(found, ({ table }) => table)
  return [...byTable].flatMap(([name, all]) => {
    const of = conditionOf(name, new Set(all.map((column) => column.name)))
    const columns = all.filter((column) => !hidden.has(`${name}.${column.name}`))
    return of ? [{ name, columns, of }] : []
  })
}

/** Selects a column as the interface writes it: amounts as text, times in UTC with milliseconds. */
function shown({ name, type }: Column, isOpened: boolean): SQL {
  const column = sql`t.${sql.identifier(name)}`
  const value = /^(numeric|bigint)$/.test(type)
    ? sql`${column}::text`
    : type.startsWith('timestamp')
      ? sql`to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
      : name === sealed && !isOpened
        ? sql`case when ${column} <> '' then 'sealed' else '' end`
        : column
  return sql`${value} as ${sql.identifier(name)}`
}
const sealed = 'bank_details'

const rowsMax = 50

async function readRows(
  run: Run,
  { name, columns, of, unseal }: PersonTable,
  wallet: string,
  after: readonly string[] | undefined,
) {
  const key = columns.filter(({ keyAt }) => keyAt !== null).toSorted((left, right) => left.keyAt! - right.keyAt!)
  const keyColumns = key.map((column) => sql`t.${sql.identifier(column.name)}`)
  const listed = (parts: readonly SQL[]) => sql.join([...parts], sql`, `)
  const from = after
    ? sql` and (${listed(keyColumns)}) > (${listed(
        key.map(({ type }, at) => sql`${after[at] ?? ''}::text::${sql.raw(type)}`),
      )})`
    : sql``
  const rows = (await run(sql`
    select to_jsonb(r) - 'key of the row' as values, r."key of the row" as key from (
      select ${listed(columns.map((column) => shown(column, unseal !== undefined)))},
        array[${listed(keyColumns.map((column) => sql`${column}::text`))}] as "key of the row"
      from ${sql.raw(name)} t where ${of(wallet)}${from}
      order by ${listed(keyColumns)} limit ${rowsMax}) r`)) as unknown as readonly {
    values: PersonRow['values']
    key: string[]
  }[]
  return rows.map((row) => ({
    row: { table: name, values: unseal ? unseal(row.values) : row.values },
    place: { table: name, key: row.key },
  }))
}

/** Reads all rows of a wallet, of which it holds one batch of one table at a time. */
export async function* walkPerson(
  run: Run,
  tables: readonly PersonTable[],
  wallet: string,
  after?: PersonPlace,
): AsyncGenerator<{ row: PersonRow; place: PersonPlace }> {
  for (const table of tables) {
    if (after && table.name < after.table) continue
    let key = after?.table === table.name ? after.key : undefined
    while (true) {
      const rows = await readRows(run, table, wallet, key)
      yield* rows
      if (rows.length < rowsMax) break
      key = rows.at(-1)!.place.key
    }
  }
}

/** Length of a page as JSON, far below the bus's largest message even with one more large row. */
const pageLengthMax = 64 * 1024

async function readPersonPage(
  run: Run,
  tables: readonly PersonTable[],
  { wallet, after }: { readonly wallet: string; readonly after?: PersonPlace },
): Promise<PersonPage> {
  const rows: PersonRow[] = []
  let length = 0
  for await (const { row, place } of walkPerson(run, tables, wallet, after)) {
    rows.push(row)
    length += JSON.stringify(row).length
    if (length >= pageLengthMax) return { rows, next: place }
  }
  return { rows, next: null }
}

export type PersonReader = (asked: { readonly wallet: string; readonly after?: PersonPlace }) => Promise<PersonPage>

export function openPersonReader(database: Database, service: string, unseal?: Unseal): PersonReader {
  const run: Run = (statement) => database.read(async (db) => [...(await db.execute(statement))])
  let found: Promise<readonly PersonTable[]> | undefined
  return async (asked) => {
    found ??= findPersonTables(run, [service.replaceAll('-', '_')], operatorsOnly)
    const tables = await found.catch((error) => {
      found = undefined
      throw error
    })
    const opened = tables.map((table) =>
      unseal && table.columns.some(({ name }) => name === sealed) ? { ...table, unseal } : table,
    )
    return readPersonPage(run, opened, asked)
  }
}
