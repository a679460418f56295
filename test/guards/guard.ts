import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The repository that the edits of guards are written for. */
export const root = join(import.meta.dir, '..', '..')

/** What a guard keeps from happening twice, or at all. */
export const kinds = [
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

/** A text of a file, which occurs in it once, and what is written in its place. */
export type Edit = { readonly file: string; readonly from: string; readonly to: string }

/** A test by the words of its title in the source; `row` names those of a table, by their first words. */
export type NamedTest = {
  readonly file: string
  readonly name: string
  readonly row?: string | readonly string[]
}

/** Something without which money is lost or doubled, and the test that misses it. */
export type Guard = {
  /** What holds, as a sentence about the money. */
  readonly guard: string
  readonly kind: Kind
  /** How it is taken away. */
  readonly edits: readonly Edit[]
  /** How the layer behind it is switched off, where two protect the same thing. */
  readonly also?: readonly Edit[]
  /** The index that it is, as `schema.index`. */
  readonly index?: string
  readonly test: NamedTest
}

/** One edit of a file. */
export const edit = (file: string, from: string, to: string): Edit => ({ file, from, to })

/** The schemas, and the folder of the migrations of each. */
const folderOf = (schema: string): string => `infra/migrations/${schema.replaceAll('_', '-')}`

/** A statement after the last one of a schema's newest migration. */
export function afterMigrations(schema: string, statement: string): Edit {
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

/** A unique index of the migrations: its name as `schema.index`, and how it is dropped. */
export type UniqueIndex = { readonly index: string; readonly schema: string; readonly drop: string }

/** All that the migrations make, by what drizzle-kit wrote down of the newest ones. */
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

/** Takes a unique index away, after all migrations. Throws when there is no such index. */
export function withoutIndex(index: string): Edit {
  const found = uniqueIndexes().find((one) => one.index === index)
  if (!found) throw new Error(`no migration makes a unique index ${index}`)
  return afterMigrations(found.schema, found.drop)
}
