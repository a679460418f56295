import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { databaseRoles, migrationsDir } from '#infra/migrations/databases'

type Table = { readonly columns: Readonly<Record<string, { readonly name: string }>> }

/** Returns the tables of all schemas, by name, from the newest snapshot of each schema's migrations. */
export const newestTables = (): [name: string, table: Table][] =>
  databaseRoles.flatMap((role) => {
    const meta = join(migrationsDir(role), 'meta')
    const newest = readdirSync(meta)
      .filter((file) => file.endsWith('_snapshot.json'))
      .sort()
      .at(-1)!
    const { tables } = JSON.parse(readFileSync(join(meta, newest), 'utf8')) as { tables: Record<string, Table> }
    return Object.entries(tables)
  })
