import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** The Postgres roles of the services; each is also the name of its schema. Pricing has no rows. */
export const databaseRoles = [
  'gateway',
  'payments',
  'payouts',
  'chain_relayer',
  'indexer_reader',
] as const
export type DatabaseRole = (typeof databaseRoles)[number]

/** The service's folder under services/ and under infra/migrations/. */
export const serviceOf = (role: DatabaseRole): string => role.replaceAll('_', '-')

export const migrationsDir = (role: DatabaseRole): string => join(import.meta.dir, serviceOf(role))

export const hasMigrations = (role: DatabaseRole): boolean =>
  existsSync(join(migrationsDir(role), 'meta/_journal.json'))
