import { drizzle } from 'drizzle-orm/postgres-js'
import { migrate } from 'drizzle-orm/postgres-js/migrator'
import postgres, { type Sql } from 'postgres'
import { databaseRoles, hasMigrations, migrationsDir } from '#infra/migrations/databases'
import { guardJournals } from '#infra/migrations/journals'
import { ensureRoles, grantRights, type RolePasswords } from '#infra/migrations/roles'
import { runCommand } from '#shared/command'
import { readConfig, secretsOf } from '#shared/config'
import { databaseUrl, text } from '#shared/config-fields'
import { databaseUrlOf } from '#shared/db/url'

export type Migrating = {
  /** A user who may create roles and schemas and will own the tables. */
  adminUrl: string
  passwords: RolePasswords
  /** Without it the read-only role `auditor` exists but cannot log in. */
  auditorPassword?: string
}

/** Any number will do, as long as every run takes the same. */
const migrationLock = 7_262_115

/**
 * Brings roles, schemas, tables and rights to what this version of the code needs. Repeatable, and
 * safe when several run at once: one works while the others wait, then find nothing to do.
 */
export async function migrateAll(options: Migrating): Promise<void> {
  // One connection for all of it: the lock belongs to the session that took it.
  const sql = postgres(options.adminUrl, {
    max: 1,
    connect_timeout: 10,
    idle_timeout: 0,
    max_lifetime: null,
    onnotice: () => {},
    connection: { application_name: 'migrations', statement_timeout: 120_000 },
  })
  try {
    await sql`select pg_advisory_lock(${migrationLock})`
    await ensureRoles(sql, options.passwords, options.auditorPassword)
    for (const role of databaseRoles) await sql`create schema if not exists ${sql(role)}`
    await applyMigrations(sql)
    await grantRights(sql)
    await guardJournals(sql)
  } finally {
    await sql.end({ timeout: 5 }) // Ends the session, which releases the lock.
  }
}

async function applyMigrations(sql: Sql): Promise<void> {
  const db = drizzle(sql)
  for (const role of databaseRoles.filter(hasMigrations)) {
    await migrate(db, {
      migrationsFolder: migrationsDir(role),
      migrationsSchema: 'migrations',
      migrationsTable: role,
    })
  }
}

const about = 'password of the Postgres role of this service'
/** What this step is told. */
export const fields = {
  DATABASE_ADMIN_URL: databaseUrl({ about: 'Postgres, as who owns the tables', secret: true }),
  DATABASE_ADMIN_PASSWORD: text({
    about: 'password of who owns the tables, when the URL has none',
    secret: true,
    fallback: '',
  }),
  DATABASE_PASSWORD_GATEWAY: text({ about, secret: true }),
  DATABASE_PASSWORD_PRICING: text({ about, secret: true }),
  DATABASE_PASSWORD_PAYMENTS: text({ about, secret: true }),
  DATABASE_PASSWORD_PAYOUTS: text({ about, secret: true }),
  DATABASE_PASSWORD_CHAIN_RELAYER: text({ about, secret: true }),
  DATABASE_PASSWORD_INDEXER_READER: text({ about, secret: true }),
  DATABASE_PASSWORD_BOOKS: text({
    about: 'password of the job that checks the books',
    secret: true,
  }),
  DATABASE_PASSWORD_OPS: text({
    about: 'password of operators, who read everything and write down what they asked for',
    secret: true,
  }),
  DATABASE_PASSWORD_PRUNING: text({
    about: 'password of the job that removes what nothing asks for any more',
    secret: true,
  }),
  DATABASE_PASSWORD_AUDITOR: text({ about: 'empty: the auditor cannot log in', fallback: '' }),
}

if (import.meta.main) {
  await runCommand(
    () => secretsOf(fields),
    async (say) => {
      const config = readConfig('migrations', fields)
      const startedAt = Date.now()
      await migrateAll({
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
          books: config.databasePasswordBooks,
          ops: config.databasePasswordOps,
          pruning: config.databasePasswordPruning,
        },
        auditorPassword: config.databasePasswordAuditor,
      })
      say(`schemas, tables and rights are as they should be (${Date.now() - startedAt} ms)`)
    },
  )
}
