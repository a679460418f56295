import { existsSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The Postgres roles of those who keep rows; each is also the name of its schema. `books` is the
 * job that reads what all others wrote, and writes down what does not agree; `ops` is who operates,
 * who reads likewise and writes down what was asked of the services.
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

/** Everybody who logs in by a password of their own: these, and the job that removes old rows of them. */
export const loginRoles = [...databaseRoles, 'pruning'] as const
export type LoginRole = (typeof loginRoles)[number]

/** The service's folder under services/ and under infra/migrations/. */
export const serviceOf = (role: DatabaseRole): string => role.replaceAll('_', '-')

/** Where the tables of a schema are described, from the root of the repository. */
export const tablesDir = (role: DatabaseRole): string =>
  role === 'books' || role === 'ops' ? `infra/${role}` : `services/${serviceOf(role)}`

export const migrationsDir = (role: DatabaseRole): string => join(import.meta.dir, serviceOf(role))

export const hasMigrations = (role: DatabaseRole): boolean =>
  existsSync(join(migrationsDir(role), 'meta/_journal.json'))
