import postgres, { type Sql } from 'postgres'
import { postgresAnswers } from '#infra/local/postgres'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { scrape } from '../../support/telemetry/metrics'

/** What a stack has done since it started. No machine changes these numbers, so two trees can be compared by them. */
export type Counts = {
  /** SQL statements of the services, without begin, commit and rollback. */
  readonly statements: number
  /** Times that a service sent something to Postgres and waited for the response. */
  readonly roundTrips: number
  /** Transactions of all databases, committed or not. */
  readonly transactions: number
  /** Syncs of Postgres to the disk, of its log and its tables. */
  readonly syncs: number
  /** Messages that nats-server received and sent. */
  readonly messages: number
  /** Messages that JetStream stored, each of which it syncs to the disk. */
  readonly stored: number
  /** Calls of the payment provider, each attempt. */
  readonly providerCalls: number
}

export function openAdmin(stack: Stack) {
  const client = postgres(stack.adminUrl, { max: 1, onnotice: () => {} })
  return { client, [Symbol.asyncDispose]: () => client.end({ timeout: 1 }) }
}

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

/** Reads one count alone, because reading the services' own counts makes them query Postgres. */
export async function countTransactions(sql: Sql): Promise<Pick<Counts, 'transactions'>> {
  const [counted] = await sql<Pick<Counts, 'transactions'>[]>`
    select sum(xact_commit + xact_rollback)::int as transactions from pg_stat_database`
  return counted!
}

export async function readCounts(stack: Stack, sql: Sql): Promise<Counts> {
  const [[database], bus, streams, samples] = await Promise.all([
    sql<Pick<Counts, 'statements' | 'transactions' | 'syncs'>[]>`
      select
        coalesce(sum(calls) filter (where query !~* '^(begin|commit|rollback)'), 0)::int as statements,
        (select sum(xact_commit + xact_rollback)::int from pg_stat_database) as transactions,
        (select sum(fsyncs)::int from pg_stat_io) as syncs
      from pg_stat_statements join pg_user on usesysid = userid
      where usename <> 'postgres' and toplevel`,
    monitor<{ in_msgs: number; out_msgs: number }>(stack, 'varz'),
    monitor<{ account_details: { stream_detail?: { state: { last_seq: number } }[] }[] }>(stack, 'jsz?streams=true'),
    scrape(stack),
  ])
  const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0)
  const sumOf = (metric: string) => sum(samples.filter(({ name }) => name === metric).map(({ value }) => value))
  return {
    ...database!,
    messages: bus.in_msgs + bus.out_msgs,
    stored: sum(
      streams.account_details.flatMap(({ stream_detail = [] }) => stream_detail.map(({ state }) => state.last_seq)),
    ),
    roundTrips: sumOf('ausd_database_round_trips_total'),
    providerCalls: sumOf('ausd_provider_call_duration_seconds_count'),
  }
}

async function monitor<Body>(stack: Stack, page: string): Promise<Body> {
  return (await fetch(`${stack.info.nats.monitor}/${page}`)).json() as Promise<Body>
}
