import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Operator } from './operators'

/** Root of the repository, to which the files of edits are relative. */
export const root = join(import.meta.dir, '..', '..')

const kinds = [
  'index',
  'inbox',
  'outbox',
  'guarded update',
  'lock',
  'key',
  'look-up',
  'quote',
  'cover',
  'decision',
  'evidence',
  'lane',
  'finality',
  'authorization',
  'signature',
  'contract',
  'rights',
  'journal',
] as const
export type Kind = (typeof kinds)[number]

/** A test. `row` selects rows of its table by their first words. */
export type NamedTest = {
  readonly file: string
  readonly name: string
  readonly row?: string | readonly string[]
}

/** A guard against lost or doubled money, and the test that fails without it. */
export type Guard = {
  /** Words of its marks in the source. */
  readonly guard: string
  readonly kind: Kind
  /**
   * Operators that take the guard out: one for every mark, or one for each in the order of files and lines. A guard by
   * an index has none.
   */
  readonly by?: Operator | readonly Operator[]
  /** Names of other guards that protect the same thing and are taken out too. */
  readonly also?: readonly string[]
  /** Unique index that is the guard, as `schema.index`. */
  readonly index?: string
  readonly test: NamedTest
}

type Snapshot = { readonly tables: Readonly<Record<string, Table>> }
type Table = {
  readonly name: string
  readonly schema: string
  readonly columns: Readonly<Record<string, { readonly name: string; readonly primaryKey: boolean }>>
  readonly compositePrimaryKeys: Readonly<Record<string, { readonly name: string }>>
  readonly uniqueConstraints: Readonly<Record<string, { readonly name: string }>>
  readonly indexes: Readonly<Record<string, { readonly name: string; readonly isUnique: boolean }>>
}

export type UniqueIndex = { readonly index: string; readonly schema: string; readonly drop: string }

/** Returns the unique indexes in the newest snapshots of drizzle-kit. */
export function uniqueIndexes(): UniqueIndex[] {
  const folders = readdirSync(join(root, 'infra/migrations'), { withFileTypes: true })
  return folders
    .filter((one) => one.isDirectory())
    .flatMap(({ name }) => {
      const meta = join(root, 'infra/migrations', name, 'meta')
      const newest = readdirSync(meta)
        .filter((file) => file.endsWith('_snapshot.json'))
        .toSorted()
        .at(-1)!
      const snapshot = JSON.parse(readFileSync(join(meta, newest), 'utf8')) as Snapshot
      return Object.values(snapshot.tables).flatMap(indexesOf)
    })
}

function indexesOf(table: Table): UniqueIndex[] {
  const { schema, name: tableName } = table
  const named = (one: Readonly<Record<string, { name: string }>>) => Object.values(one).map(({ name }) => name)
  const isOwnKey = Object.values(table.columns).some(({ primaryKey }) => primaryKey)
  const constraints = [
    ...(isOwnKey ? [`${tableName}_pkey`] : []),
    ...named(table.compositePrimaryKeys),
    ...named(table.uniqueConstraints),
  ]
  const plain = Object.values(table.indexes).filter(({ isUnique }) => isUnique)
  return [
    ...constraints.map((name) => ({
      index: `${schema}.${name}`,
      schema,
      drop: `alter table "${schema}"."${tableName}" drop constraint "${name}" cascade;`,
    })),
    ...plain.map(({ name }) => ({
      index: `${schema}.${name}`,
      schema,
      drop: `drop index "${schema}"."${name}";`,
    })),
  ]
}

/** Returns the statement that drops the index after all migrations, and the file of the newest one. */
export function afterMigrations(index: string): { file: string; statement: string } {
  const found = uniqueIndexes().find((one) => one.index === index)
  if (!found) throw new Error(`no migration creates the unique index ${index}`)
  const folder = `infra/migrations/${found.schema.replaceAll('_', '-')}`
  const newest = readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.sql'))
    .toSorted()
    .at(-1)!
  return { file: `${folder}/${newest}`, statement: found.drop }
}
