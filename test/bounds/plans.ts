import { readFileSync } from 'node:fs'
import postgres, { type Sql } from 'postgres'
import { waitUntil } from '../support/wait'

type Node = {
  'Node Type': string
  Schema?: string
  'Relation Name'?: string
  Plans?: Node[]
}
export type Ran = {
  readonly by: string
  readonly text: string
  readonly scanned: readonly string[]
}

const settings = {
  session_preload_libraries: 'auto_explain',
  log_line_prefix: '%m [%p] <%a> ',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_format': 'json',
  'auto_explain.log_verbose': 'on',
  'auto_explain.log_nested_statements': 'on',
}

/** Makes Postgres log the plan of every statement except this session's. */
export async function logPlans(sql: Sql, url: string): Promise<void> {
  for (const [name, value] of Object.entries(settings)) await sql.unsafe(`alter system set ${name} = '${value}'`)
  await sql`select pg_reload_conf()`
  // New sessions load the library once Postgres has read the setting.
  await waitUntil('new sessions with auto_explain', () => loadsExplain(url))
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where backend_type = 'client backend' and application_name <> current_setting('application_name')`
}

async function loadsExplain(url: string): Promise<boolean> {
  const session = postgres(url, { max: 1 })
  try {
    const [row] = await session`show session_preload_libraries`
    return String(row!.session_preload_libraries).includes('auto_explain')
  } finally {
    await session.end({ timeout: 1 })
  }
}

const entry = /^\S+ \S+ UTC \[\d+\] <(.*?)> LOG: {2}duration: .* plan:\n((?:\t.*\n)+)/gm

/** Returns the plans in a part of the log, from a number of characters on. */
export const plansIn = (logFile: string, from = 0): Ran[] =>
  [...readFileSync(logFile, 'utf8').slice(from).matchAll(entry)].map(([, by, plan]) => {
    const read = JSON.parse(plan!) as { 'Query Text': string; Plan: Node }
    return { by: by!, text: read['Query Text'].replace(/\s+/g, ' '), scanned: scannedBy(read.Plan) }
  })

const scannedBy = (node: Node): string[] => [
  ...(node['Node Type'] === 'Seq Scan' ? [`${node.Schema}.${node['Relation Name']}`] : []),
  ...(node.Plans ?? []).flatMap(scannedBy),
]
