import { expect } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import type { RunningStack } from '#infra/local/stack'

const schemas = ['gateway', 'pricing', 'payments', 'payouts', 'chain_relayer', 'ops']
/** Services write these without a request. */
const ownNotes = [
  'payments.owed_to_cashouts',
  'payments.listings',
  'payouts.listings',
  'chain_relayer.lane',
  'chain_relayer.cursor',
]
/** Changed by the identity checks, which come every minute. */
const ownColumns: Readonly<Record<string, readonly string[]>> = {
  'gateway.identity_rechecks': ['next_check_at', 'checked_at', 'failures', 'updated_at'],
}

/** By table, as JSON; with texts, only rows that contain one of them. */
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

/** Running work ends within this time. */
const atLeast = { tries: 5, ms: 30_000 }

/**
 * Expects an action to write nothing, or, on a shared stack, nothing about these wallets and ids. Services
 * write on their own too, so it repeats the action until no other write interferes.
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

/** Not the sandbox, which is the outside world. */
const ours = /^(gateway|pricing|payments|payouts|chain-relayer|indexer-reader|nats-server|postgres)\.log$/

/** All rows and log lines. */
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
