import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Roles that own a schema of the same name. `books` (reconciliation) and `ops` (operators) read every schema. */
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

/** Roles whose schemas have an outbox, an inbox and dead letters. */
export const messengers = ['gateway', 'payments', 'payouts', 'chain_relayer'] as const
export type Messenger = (typeof messengers)[number]

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

/** Roles without a login. The process `operations` has no rights of its own and takes one of these per connection. */
export const assumedRoles = ['books', 'pruning', 'auditor'] as const
export type AssumedRole = (typeof assumedRoles)[number]

export const serviceOf = (role: DatabaseRole): string => role.replaceAll('_', '-')

const elsewhere: Partial<Record<DatabaseRole, string>> = {
  books: 'infra/operations/books',
  ops: 'infra/operations/audit-log',
}
export const tablesDir = (role: DatabaseRole): string => elsewhere[role] ?? `services/${serviceOf(role)}`

export const migrationsDir = (role: DatabaseRole): string => join(import.meta.dir, serviceOf(role))

const journalFile = (role: DatabaseRole) => join(migrationsDir(role), 'meta/_journal.json')

export const hasMigrations = (role: DatabaseRole): boolean => existsSync(journalFile(role))

/** Returns the migrations in order of application; `when` is in Unix ms. */
export const journalOf = (role: DatabaseRole): { readonly tag: string; readonly when: number }[] =>
  JSON.parse(readFileSync(journalFile(role), 'utf8')).entries
