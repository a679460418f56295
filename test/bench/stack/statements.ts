import type { Sql } from 'postgres'
import { postgresAnswers } from '#infra/local/postgres'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'

/** Makes Postgres count statements, for which it is restarted. */
export async function countStatements(stack: Stack, sql: Sql): Promise<void> {
  const [loaded] = await sql<{ libraries: string }[]>`
    select current_setting('shared_preload_libraries') as libraries`
  if (loaded!.libraries.includes('pg_stat_statements')) return
  await sql`alter system set shared_preload_libraries = 'pg_stat_statements'`
  const server = stack.process('postgres')
  await server.stop('SIGINT')
  server.start()
  await waitUntil('Postgres to restart', () => postgresAnswers(stack.adminUrl), 30_000)
  await sql`create extension if not exists pg_stat_statements`
  const isReady = async () => (await fetch(`${stack.info.ops.gateway}/ready`)).ok
  await waitUntil('every service to be ready', isReady, 30_000)
}

/** Returns the number of statements of the services, without begin, commit and rollback. */
export async function statementsSent(sql: Sql): Promise<number> {
  const [row] = await sql<{ calls: number }[]>`
    select coalesce(sum(calls), 0)::int as calls
    from pg_stat_statements join pg_user on usesysid = userid
    where usename <> 'postgres' and query !~* '^(begin|commit|rollback)'`
  return row!.calls
}

/** Returns the number of transactions in all databases, committed or not. */
export async function transactionsEnded(sql: Sql): Promise<number> {
  const [row] = await sql<{ ended: number }[]>`
    select sum(xact_commit + xact_rollback)::int as ended from pg_stat_database`
  return row!.ended
}
