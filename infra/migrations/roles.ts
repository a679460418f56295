import type { Sql } from 'postgres'
import { assumedRoles, type DatabaseRole, databaseRoles, type LoginRole, loginRoles } from '#infra/migrations/databases'
import { bankDetailsDays } from '#infra/operations/pruning/prune'
import { bankDetails, rules } from '#infra/operations/pruning/rules'

export type RolePasswords = Readonly<Record<LoginRole, string>>

export async function ensureRoles(sql: Sql, passwords: RolePasswords): Promise<void> {
  const known = await sql<{ rolname: string }[]>`
    select rolname from pg_roles where rolname in ${sql([...loginRoles, ...assumedRoles])}`
  const names = new Set(known.map((row) => row.rolname))
  for (const role of loginRoles) await ensureLogin(sql, role, passwords[role], names.has(role))
  for (const role of assumedRoles)
    await sql.unsafe(`${names.has(role) ? 'alter' : 'create'} role ${role} nologin password null`)
}

async function ensureLogin(sql: Sql, role: string, password: string, known: boolean) {
  const verb = known ? 'alter' : 'create'
  const rights = 'login nosuperuser nocreatedb nocreaterole'
  const [statement] = await sql<{ text: string }[]>`
    select format('${sql.unsafe(verb)} role %I ${sql.unsafe(rights)} password %L', ${role}::text, ${password}::text) as text`
  await sql.unsafe(statement!.text)
}

/**
 * Grants all rights. It runs after every migration, so that new tables need no default privileges. A role deletes no
 * rows; only `pruning` does, where a rule says so.
 */
export async function grantRights(sql: Sql): Promise<void> {
  await sql.unsafe([...databaseRoles.map(rightsOf), pruningRights()].join('\n'))
  // guard: the taker of a quote is never changed
  await sql`revoke update on pricing.quotes_taken from pricing`
  await sql`revoke update on books.seals from books`
  // The record of an operator's command is written once, and no operator may change it.
  await sql`revoke update on all tables in schema ops from ops`
  // To run the reconciliation by hand, an operator must switch to the role books explicitly.
  await sql`grant books to ops with inherit false, set true`
  for (const role of assumedRoles) await sql`grant ${sql(role)} to operations with inherit false, set true`
}

const rightsOf = (role: DatabaseRole): string => `
  grant usage on schema ${role} to ${role}, auditor, books, ops;
  -- guard: a service deletes no row
  grant select, insert, update on all tables in schema ${role} to ${role};
  grant usage on all sequences in schema ${role} to ${role};
  -- guard: a service writes no row of another service
  grant select on all tables in schema ${role} to auditor, books, ops;
  alter role ${role} set search_path = ${role};`

/** Returns the statements for `pruning`. They revoke first, so that a removed rule leaves no right behind. */
const pruningRights = (): string =>
  [
    ...databaseRoles.flatMap((schema) => [
      `grant usage on schema ${schema} to pruning;`,
      `revoke all on all tables in schema ${schema} from pruning;`,
    ]),
    ...[...rules, bankDetails(bankDetailsDays)].flatMap(({ table, empties, reads = {} }) => [
      empties
        ? `grant update (${Object.keys(empties).join(', ')}) on ${table} to pruning;`
        : `grant select, delete on ${table} to pruning;`,
      ...Object.entries(reads).map(
        ([other, columns]) => `grant select (${columns.join(', ')}) on ${other} to pruning;`,
      ),
    ]),
  ].join('\n')
