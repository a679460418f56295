import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Postgres roles that own a schema of the same name. `books` is the reconciliation job: it reads
 * every schema and records discrepancies. `ops` is the operators' role: it reads every schema and
 * records operator commands.
 */
export const databaseRoles = [
  'gateway',
  'pricing',
  'payments',
  'payouts',
  'chain_relayer',
  'indexer_reader',
  'books',
  'ops',
] as const
export type DatabaseRole = (typeof databaseRoles)[number]

/** Roles with a password of their own: the services, the operators, and the process `operations`. */
export const loginRoles = [
  'gateway',
  'pricing',
  'payments',
  'payouts',
  'chain_relayer',
  'indexer_reader',
  'ops',
  'operations',
] as const
export type LoginRole = (typeof loginRoles)[number]

/**
 * Roles without a login. The process `operations` has no right of its own and takes one of these per
 * connection: `auditor` reads every schema, `pruning` deletes old rows.
 */
export const assumedRoles = ['books', 'pruning', 'auditor'] as const
export type AssumedRole = (typeof assumedRoles)[number]

/** The service's folder under services/ and under infra/migrations/. */
export const serviceOf = (role: DatabaseRole): string => role.replaceAll('_', '-')

const elsewhere: Partial<Record<DatabaseRole, string>> = {
  books: 'infra/operations/books',
  ops: 'infra/operations/audit-log',
}
/** Folder that defines a schema's tables, relative to the repository root. */
export const tablesDir = (role: DatabaseRole): string =>
  elsewhere[role] ?? `services/${serviceOf(role)}`

export const migrationsDir = (role: DatabaseRole): string => join(import.meta.dir, serviceOf(role))

const journalFile = (role: DatabaseRole) => join(migrationsDir(role), 'meta/_journal.json')

export const hasMigrations = (role: DatabaseRole): boolean => existsSync(journalFile(role))

/** Migrations of a schema in the order of their application; `when` in Unix ms. */
export const journalOf = (role: DatabaseRole): { readonly tag: string; readonly when: number }[] =>
  JSON.parse(readFileSync(journalFile(role), 'utf8')).entries
