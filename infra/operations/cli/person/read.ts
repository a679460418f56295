import { PgDialect } from 'drizzle-orm/pg-core'
import type { Sql } from 'postgres'
import { databaseRoles } from '#infra/migrations/databases'
import { findPersonTables, type Run, walkPerson } from '#platform/db/person'
import type { PersonRow } from '#shared/messages/person'

export type Stored = { readonly table: string; readonly rows: readonly PersonRow['values'][] }

const dialect = new PgDialect()

/** Reads a person's data from all schemas, as `GET /me/export` does, and operators' notes. */
export async function readPerson(sql: Sql, wallet: string): Promise<Stored[]> {
  const run: Run = (statement) => {
    const { sql: text, params } = dialect.sqlToQuery(statement)
    return sql.unsafe(text, params as string[])
  }
  const tables = await findPersonTables(run, databaseRoles, new Set())
  const found = new Map<string, PersonRow['values'][]>()
  for await (const { row } of walkPerson(run, tables, wallet)) {
    const rows = found.get(row.table) ?? []
    rows.push(row.values)
    found.set(row.table, rows)
  }
  return [...found].map(([table, rows]) => ({ table, rows }))
}
