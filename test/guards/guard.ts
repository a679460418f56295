import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The files of edits are relative to it. */
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

/** `from` occurs exactly once in its file. */
export type Edit = { readonly file: string; readonly from: string; readonly to: string }

/** `row` selects rows of a table by their first words. */
export type NamedTest = {
  readonly file: string
  readonly name: string
  readonly row?: string | readonly string[]
}

/** A guard against lost or doubled money, and the test that fails without it. */
export type Guard = {
  readonly guard: string
  readonly kind: Kind
  readonly edits: readonly Edit[]
  /** Disable a second layer that protects the same thing. */
  readonly also?: readonly Edit[]
  /** The guard is this index, as `schema.index`. */
  readonly index?: string
  readonly test: NamedTest
}

export const edit = (file: string, from: string, to: string): Edit => ({ file, from, to })

const folderOf = (schema: string): string => `infra/migrations/${schema.replaceAll('_', '-')}`

/** Appends a statement to the schema's newest migration. */
function afterMigrations(schema: string, statement: string): Edit {
  const folder = folderOf(schema)
  const newest = readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.sql'))
    .toSorted()
    .at(-1)!
  const file = `${folder}/${newest}`
  const from = readFileSync(join(root, file), 'utf8')
  return { file, from, to: `${from.trimEnd()}\n--> statement-breakpoint\n${statement}\n` }
}

type Snapshot = { readonly tables: Readonly<Record<string, Table>> }
type Table = {
  readonly name: string
  readonly schema: string
  readonly columns: Readonly<
    Record<string, { readonly name: string; readonly primaryKey: boolean }>
  >
  readonly compositePrimaryKeys: Readonly<Record<string, { readonly name: string }>>
  readonly uniqueConstraints: Readonly<Record<string, { readonly name: string }>>
  readonly indexes: Readonly<Record<string, { readonly name: string; readonly isUnique: boolean }>>
}

export type UniqueIndex = { readonly index: string; readonly schema: string; readonly drop: string }

/** Reads the newest snapshots of drizzle-kit. */
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
  const named = (one: Readonly<Record<string, { name: string }>>) =>
    Object.values(one).map(({ name }) => name)
  const isOwnKey = Object.values(table.columns).some(({ primaryKey }) => primaryKey)
  const constraints = [
    ...(isOwnKey ? [`${tableName}_pkey`] : []),
    ...named(table.compositePrimaryKeys),
    ...named(table.uniqueConstraints),
  ]
  const plain = Object.values(table.indexes).filter(({ isUnique }) => isUnique)
  return [
    ...constraints.map((name) => ({
      ...{ index: `${schema}.${name}`, schema },
      drop: `alter table "${schema}"."${tableName}" drop constraint "${name}" cascade;`,
    })),
    ...plain.map(({ name }) => ({
      ...{ index: `${schema}.${name}`, schema },
      drop: `drop index "${schema}"."${name}";`,
    })),
  ]
}

/** After all migrations. */
export function withoutIndex(index: string): Edit {
  const found = uniqueIndexes().find((one) => one.index === index)
  if (!found) throw new Error(`no migration creates the unique index ${index}`)
  return afterMigrations(found.schema, found.drop)
}
