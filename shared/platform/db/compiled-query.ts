import {
  getTableColumns,
  type InferSelectModel,
  is,
  Param,
  Placeholder,
  type Query,
  SQL,
  type SQLWrapper,
  StringChunk,
  sql,
  type Table,
} from 'drizzle-orm'
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import { type Db, sendAhead, type Tx } from '#platform/db/open'

// drizzle-orm builds the SQL text at every use, which takes longer than the round trip for a row of forty columns.

const builder: PostgresJsDatabase = drizzle.mock()

/**
 * Compiles a query once. Its values are `sql.placeholder`s; one that stands for a column is encoded as that column's
 * type.
 */
export function compiledQuery<Values extends Record<string, unknown>>(
  build: (db: PostgresJsDatabase) => { toSQL: () => Query },
): (values: Values) => SQL {
  let parts: readonly Part[] | undefined
  return (values) => {
    parts ??= partsOf(build(builder).toSQL())
    return new SQL(parts.map((part) => (part instanceof StringChunk ? part : part(values))))
  }
}

type Part = StringChunk | ((values: Record<string, unknown>) => Param)

function partsOf({ sql: text, params }: Query): Part[] {
  return text
    .split(/\$(\d+)/)
    .map((piece, at) => (at % 2 === 0 ? new StringChunk(piece) : writerOf(params[Number(piece) - 1])))
}

function writerOf(param: unknown): Part {
  const isWritten = is(param, Param) && is(param.value, Placeholder)
  const placeholder = isWritten ? (param.value as Placeholder) : param
  if (!is(placeholder, Placeholder)) return () => sql.param(param)
  const { name } = placeholder
  const write = isWritten ? (value: unknown) => param.encoder.mapToDriverValue(value) : undefined
  return (values) => {
    const value = values[name]
    if (value === undefined) throw new Error(`missing statement value: ${name}`)
    return sql.param(value === null || !write ? value : write(value))
  }
}

export const keysOf = (set: object): string[] =>
  Object.entries(set).flatMap(([key, value]) => (value === undefined ? [] : [key]))

export const placeholders = (keys: readonly string[]) =>
  Object.fromEntries(keys.map((key) => [key, sql.placeholder(key)]))

export function perKeys<Made>(make: (keys: readonly string[]) => Made) {
  const known = new Map<string, Made>()
  return (keys: readonly string[]): Made => {
    const name = keys.toSorted().join()
    const made = known.get(name) ?? make(keys)
    known.set(name, made)
    return made
  }
}

/** A statement that accompanies a row change: `select … from moved, …` inserts nothing if no row changed. */
export type SideWrite = SQL

export const withSideWrites = (moving: SQL, sideWrites: readonly (SideWrite | undefined)[]): SQL =>
  sql`${movingWith(moving, sideWrites)} select * from moved`

/** Returns the same, but as a statement that fails (`isTooLate`) unless `count` rows changed. */
export const orFail = (moving: SQL, sideWrites: readonly (SideWrite | undefined)[], count = 1): SQL =>
  // guard: a step that is not taken fails its transaction
  sql`${movingWith(moving, sideWrites)} select 1 / (select (count(*) = ${count})::int from moved)`

function movingWith(moving: SQL, sideWrites: readonly (SideWrite | undefined)[]): SQL {
  const written = sideWrites.filter((one) => one !== undefined)
  const others = written.map((one, at) => sql`, beside${sql.raw(String(at))} as (${one})`)
  return sql`with moved as (${moving})${sql.join(others)}`
}

/** Returns true for the error of such a statement: another transaction was first. */
export const isTooLate = (error: unknown): boolean => (error as { code?: unknown }).code === divisionByZero
const divisionByZero = '22012'

/** Returns a reader of rows as `db.execute` returns them, by column name. */
export function rowReader<T extends Table>(table: T) {
  const columns = Object.entries(getTableColumns(table)).map(([key, column]) => ({
    key,
    name: column.name,
    read: (value: unknown) => (value === null ? null : column.mapFromDriverValue(value)),
  }))
  return (raw: Record<string, unknown>): InferSelectModel<T> => {
    const row: Record<string, unknown> = {}
    for (const { key, name, read } of columns) row[key] = read(raw[name])
    return row as InferSelectModel<T>
  }
}

export async function first<Row>(
  db: Db,
  statement: SQL,
  read: (raw: Record<string, unknown>) => Row,
): Promise<Row | undefined> {
  const [raw] = await db.execute(statement)
  return raw && read(raw)
}

/** Does the same with `sendAhead`. The returned function returns the row once a later statement or the commit has its result. */
export function firstAhead<Row>(
  tx: Tx,
  statement: SQLWrapper,
  read: (raw: Record<string, unknown>) => Row,
): () => Row | undefined {
  let row: Row | undefined
  sendAhead(tx, statement, ([raw]) => {
    row = raw && read(raw)
  })
  return () => row
}
