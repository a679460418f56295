import postgres, { type Sql } from 'postgres'
import { runningStack, type StackFile } from '#infra/local/stack-file'
import { readConfig, variableIn } from '#platform/config'
import { databaseUrl, text } from '#platform/config-fields'
import { databaseUrlOf } from '#platform/db/url'

/** Returns the values of the environment that must not be printed. */
export const operatorSecrets = (env: NodeJS.ProcessEnv = process.env): string[] =>
  secretNames.flatMap((name) => variableIn(env, name) ?? [])
const secretNames = [
  'RPC_URL',
  'RPC_URLS',
  'DATABASE_ADMIN_URL',
  'DATABASE_ADMIN_PASSWORD',
  'DATABASE_OPS_URL',
  'DATABASE_PASSWORD_OPS',
  'NATS_PASSWORD_OPS',
  'PROVIDER_ID_SECRET_KEY',
  'PROVIDER_MY_SECRET_KEY',
  'NATS_PASSWORD_ADMIN',
  'OPERATOR_KEY',
]

const fields = {
  DATABASE_ADMIN_URL: databaseUrl({ about: 'Postgres URL of the table owner' }),
  DATABASE_ADMIN_PASSWORD: text({ about: 'its password', fallback: '', secret: true }),
}

/**
 * Returns the running local stack, because `missing` names nothing else. Throws if one of `others` names a part of a deployment:
 * a command would read one place and change or record in the other.
 */
export function localStackWithout(
  missing: string,
  { others, env }: { others: readonly string[]; env: NodeJS.ProcessEnv },
): StackFile {
  const named = others.find((name) => variableIn(env, name))
  if (named) throw new Error(`${named} is set: set ${missing} too, or unset it for the local stack`)
  return runningStack(env)
}

/** Returns the URL of Postgres as its owner: DATABASE_ADMIN_URL, or the running local stack. */
export function operatorDatabaseUrl(env: NodeJS.ProcessEnv = process.env): string {
  if (!variableIn(env, 'DATABASE_ADMIN_URL'))
    return localStackWithout('DATABASE_ADMIN_URL', { others: ['DATABASE_OPS_URL'], env }).postgres.url
  const { databaseAdminUrl, databaseAdminPassword } = readConfig('ops', fields, env)
  return databaseUrlOf({ databaseUrl: databaseAdminUrl, databasePassword: databaseAdminPassword })
}

/** Opens a pool that connects on first use. The caller closes it. */
export const openConnection = (url: string, max: number): Sql =>
  postgres(url, {
    max,
    connect_timeout: 5,
    onnotice: () => {},
    connection: { application_name: 'operator', statement_timeout: 10_000 },
  })

export async function withDatabase<T>(url: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = openConnection(url, 1)
  try {
    return await work(sql)
  } finally {
    await sql.end({ timeout: 1 })
  }
}
