import { drizzle } from 'drizzle-orm/postgres-js'
import { migrate } from 'drizzle-orm/postgres-js/migrator'
import postgres, { type Sql } from 'postgres'
import { postgresAnswers } from '#infra/local/postgres'
import { waitUntil } from '#infra/local/wait'
import {
  type DatabaseRole,
  databaseRoles,
  hasMigrations,
  journalOf,
  migrationsDir,
  serviceOf,
} from '#infra/migrations/databases'
import { guardJournals } from '#infra/migrations/journals'
import { lockTimeoutMs, untilUnlocked } from '#infra/migrations/locks'
import { ensureRoles, grantRights, type RolePasswords } from '#infra/migrations/roles'
import { runCommand } from '#platform/command'
import { readConfig, secretsOf } from '#platform/config'
import { databaseUrl, encryptionFields, text } from '#platform/config-fields'
import { databaseUrlOf } from '#platform/db/url'

export type Migrating = {
  /** Deadline in ms of a server that is starting or recovering. By default it must accept connections already. */
  readonly acceptsWithinMs?: number
  /** URL of a user who can create roles and schemas, and who will own the tables. */
  adminUrl: string
  passwords: RolePasswords
}

const migrationLock = 7_262_115

/** Applies all migrations. Runs may be repeated and may be concurrent: one works while the others wait. */
export async function migrateAll(options: Migrating): Promise<void> {
  const { adminUrl, acceptsWithinMs } = options
  if (acceptsWithinMs) await waitUntil('Postgres', () => postgresAnswers(adminUrl), acceptsWithinMs)
  // There is a single connection, because the lock belongs to its session.
  const sql = postgres(adminUrl, {
    max: 1,
    connect_timeout: 10,
    idle_timeout: 0,
    max_lifetime: null,
    onnotice: () => {},
    connection: { application_name: 'migrations', statement_timeout: 120_000 },
  })
  try {
    await sql`select pg_advisory_lock(${migrationLock})`
    await sql.unsafe(`set lock_timeout = ${lockTimeoutMs}`)
    await ensureRoles(sql, options.passwords)
    for (const role of databaseRoles) await sql`create schema if not exists ${sql(role)}`
    await applyMigrations(sql)
    await untilUnlocked(() => grantRights(sql))
    await guardJournals(sql)
  } finally {
    await sql.end({ timeout: 5 }) // This ends the session, which releases the lock.
  }
}

async function applyMigrations(sql: Sql): Promise<void> {
  const db = drizzle(sql)
  for (const role of databaseRoles.filter(hasMigrations)) await assertNoneSkipped(sql, role)
  for (const role of databaseRoles.filter(hasMigrations)) {
    const place = { migrationsFolder: migrationsDir(role), migrationsSchema: 'migrations', migrationsTable: role }
    await untilUnlocked(() => migrate(db, place))
  }
}

type Entry = { readonly tag: string; readonly when: number }

/** Returns the first migration that is not applied, although another of its time or a later one is. */
export function skippedIn(journal: readonly Entry[], applied: readonly number[]): Entry | undefined {
  const latest = Math.max(...applied)
  const count = (times: readonly number[], time: number) => times.filter((one) => one === time).length
  return journal.find(({ when }, at) => {
    const untilHere = journal.slice(0, at + 1).map((entry) => entry.when)
    return when <= latest && count(applied, when) < count(untilHere, when)
  })
}

/**
 * Throws if an unapplied migration is not newer than the latest applied one. drizzle-orm 0.45.4 would skip it
 * silently, because it compares only with the latest time.
 */
async function assertNoneSkipped(sql: Sql, role: DatabaseRole): Promise<void> {
  const [table] = await sql`select to_regclass(${`migrations.${role}`}) is not null as exists`
  if (!table?.exists) return
  const rows = await sql<{ at: string }[]>`select created_at as at from migrations.${sql(role)}`
  const applied = rows.map(({ at }) => Number(at))
  const skipped = skippedIn(journalOf(role), applied)
  if (!skipped) return
  const service = serviceOf(role)
  throw new Error(
    `migration ${skipped.tag} of ${service} is not newer than one that this database has, so it would ` +
      `be skipped; nothing was changed. Set its "when" in ` +
      `infra/migrations/${service}/meta/_journal.json to more than ${Math.max(...applied)}.`,
  )
}

const about = 'Postgres password'
export const fields = {
  ...encryptionFields,
  DATABASE_ADMIN_URL: databaseUrl({ about: 'Postgres URL of the table owner', secret: true }),
  DATABASE_ADMIN_PASSWORD: text({
    about: 'password, if the URL has none',
    secret: true,
    fallback: '',
  }),
  DATABASE_PASSWORD_GATEWAY: text({ about, secret: true }),
  DATABASE_PASSWORD_PRICING: text({ about, secret: true }),
  DATABASE_PASSWORD_PAYMENTS: text({ about, secret: true }),
  DATABASE_PASSWORD_PAYOUTS: text({ about, secret: true }),
  DATABASE_PASSWORD_CHAIN_RELAYER: text({ about, secret: true }),
  DATABASE_PASSWORD_INDEXER_READER: text({ about, secret: true }),
  DATABASE_PASSWORD_OPS: text({ about, secret: true }),
  DATABASE_PASSWORD_OPERATIONS: text({ about, secret: true }),
}

if (import.meta.main) {
  await runCommand(
    () => secretsOf(fields),
    async (say) => {
      const config = readConfig('migrations', fields)
      const startedAt = performance.now()
      await migrateAll({
        // `docker compose restart` runs this program as soon as the process of the server exists.
        acceptsWithinMs: 60_000,
        adminUrl: databaseUrlOf({
          databaseUrl: config.databaseAdminUrl,
          databasePassword: config.databaseAdminPassword,
        }),
        passwords: {
          gateway: config.databasePasswordGateway,
          pricing: config.databasePasswordPricing,
          payments: config.databasePasswordPayments,
          payouts: config.databasePasswordPayouts,
          chain_relayer: config.databasePasswordChainRelayer,
          indexer_reader: config.databasePasswordIndexerReader,
          ops: config.databasePasswordOps,
          operations: config.databasePasswordOperations,
        },
      })
      say(`schemas, tables and rights are up to date (${Math.round(performance.now() - startedAt)} ms)`)
    },
  )
}
