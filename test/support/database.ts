import { expect } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import type { RunningStack } from '#infra/local/stack'

const schemas = ['gateway', 'pricing', 'payments', 'payouts', 'chain_relayer', 'ops']
/** Tables that services write without a request. */
const ownNotes = [
  'payments.owed_to_cashouts',
  'payments.listings',
  'payouts.listings',
  'chain_relayer.lane',
  'chain_relayer.cursor',
]
/** Columns that the identity checks change, which come every minute. */
const ownColumns: Readonly<Record<string, readonly string[]>> = {
  'gateway.identity_rechecks': ['next_check_at', 'checked_at', 'failures', 'updated_at'],
}

/** Returns the rows as JSON by table. With texts, it returns only rows that contain one of them. */
export async function rowsWritten(stack: RunningStack, ...containing: string[]): Promise<Record<string, string[]>> {
  const sql = postgres(stack.adminUrl, { max: 1, onnotice: () => {} })
  try {
    const tables = await sql<{ name: string }[]>`
      select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname in ${sql(schemas)} order by 1`
    const texts = containing.length > 0 ? containing : ['']
    const found: Record<string, string[]> = {}
    for (const { name } of tables) {
      if (ownNotes.includes(name)) continue
      const rows = await sql.unsafe<{ row: string }[]>(
        `select (to_jsonb(t) - $2::text[])::text as row from ${name} t
         where to_jsonb(t)::text ilike any ($1) order by 1`,
        [texts.map((text) => `%${text}%`), [...(ownColumns[name] ?? [])]],
      )
      found[name] = rows.map(({ row }) => row)
    }
    return found
  } finally {
    await sql.end({ timeout: 2 })
  }
}

/** Least tries and time in ms, within which running work ends. */
const atLeast = { tries: 5, ms: 30_000 }

/**
 * Expects an action to write nothing or, on a shared stack, nothing about these wallets and ids. Services write on
 * their own too, so it repeats the action until no other write interferes.
 */
export async function expectNothingWritten(
  stack: RunningStack,
  act: () => Promise<void>,
  ...about: string[]
): Promise<void> {
  const begunAt = Date.now()
  for (let tries = 1; ; tries++) {
    const before = await rowsWritten(stack, ...about)
    await act()
    const after = await rowsWritten(stack, ...about)
    if (Bun.deepEquals(after, before)) return
    const isEnough = tries >= atLeast.tries && Date.now() - begunAt > atLeast.ms
    if (isEnough) expect(after).toEqual(before)
  }
}

export async function query<T>(stack: RunningStack, text: string): Promise<T[]> {
  const sql = postgres(stack.adminUrl, { max: 1, onnotice: () => {} })
  try {
    return (await sql.unsafe(text)) as unknown as T[]
  } finally {
    await sql.end({ timeout: 2 })
  }
}

/** Logs of our processes. The sandbox is left out, because it is the outside world. */
const ours = /^(gateway|pricing|payments|payouts|chain-relayer|indexer-reader|nats-server|postgres)\.log$/

/** Returns all rows and log lines. */
export async function everythingWritten(stack: RunningStack): Promise<string> {
  const sql = postgres(stack.adminUrl, { max: 1, onnotice: () => {} })
  try {
    const tables = await sql<{ name: string }[]>`
      select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname in ('gateway', 'pricing', 'payments', 'payouts', 'chain_relayer', 'indexer_reader')`
    const rows = await Promise.all(
      tables.map(({ name }) => sql.unsafe(`select row_to_json(t)::text as row from ${name} t`)),
    )
    const logs = readdirSync(join(stack.dir, 'logs')).filter((file) => ours.test(file))
    return [
      ...rows.flat().map(({ row }) => row as string),
      ...logs.map((file) => readFileSync(join(stack.dir, 'logs', file), 'utf8')),
    ].join('\n')
  } finally {
    await sql.end({ timeout: 2 })
  }
}
