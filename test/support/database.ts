import { expect } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import type { RunningStack } from '#infra/local/stack'

/** Services write these without a request. */
const ownNotes = ['owed_to_cashouts', 'listings']

/**
 * Rows of every payments and payouts table by `schema.table`; with a text, only rows that contain
 * it.
 */
export async function rowCounts(
  stack: RunningStack,
  containing = '',
): Promise<Record<string, number>> {
  const sql = postgres(stack.adminUrl, { max: 1, onnotice: () => {} })
  try {
    const tables = await sql<{ name: string }[]>`
      select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname in ('payments', 'payouts') and tablename not in ${sql(ownNotes)}`
    const counts = await Promise.all(
      tables.map(async ({ name }) => {
        const [row] = await sql.unsafe<{ rows: number }[]>(
          `select count(*)::int as rows from ${name} t
           where strpos(lower(row_to_json(t)::text), $1) > 0`,
          [containing.toLowerCase()],
        )
        return [name, row!.rows] as const
      }),
    )
    return Object.fromEntries(counts.sort())
  } finally {
    await sql.end({ timeout: 2 })
  }
}

/** Running work ends within this time; slow work gets further attempts. */
const atLeast = { tries: 5, ms: 30_000 }

/**
 * Expects an action to write nothing, or nothing about the wallet, as other suites write to a
 * shared stack. Services write on their own too, so it repeats the action until no other write
 * interferes; an action that writes never passes.
 */
export async function expectNothingWritten(
  stack: RunningStack,
  act: () => Promise<void>,
  wallet?: string,
): Promise<void> {
  const begunAt = Date.now()
  for (let tries = 1; ; tries++) {
    const before = await rowCounts(stack, wallet)
    await act()
    const after = await rowCounts(stack, wallet)
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

/** Must contain no secret; the sandbox is the outside world. */
const ours =
  /^(gateway|pricing|payments|payouts|chain-relayer|indexer-reader|nats-server|postgres)\.log$/

/** All rows and log lines as one text. */
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
