import { cp, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { World } from './drivers/stack'

/** Rows of evidence by the name of their file. */
type Rows = { readonly [name: string]: readonly unknown[] }

/**
 * Keeps a world in which something was found: these rows, the logs and each table of the services, with one JSON row per
 * line. Returns the folder, which nothing deletes.
 */
export async function keepWorld({ stack, sql }: Pick<World, 'stack' | 'sql'>, rows: Rows = {}): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'world-'))
  const write = (name: string, lines: readonly string[]) =>
    writeFile(join(dir, `${name}.jsonl`), lines.map((line) => `${line}\n`).join(''))
  for (const [name, all] of Object.entries(rows))
    await write(
      name,
      all.map((row) => JSON.stringify(row, exactly)),
    )
  const tables = await sql<{ schema: string; name: string }[]>`
    select table_schema as schema, table_name as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`
  for (const { schema, name } of tables) {
    // As text, because a number of JavaScript cannot hold each amount.
    const all = await sql<{ row: string }[]>`select to_jsonb(one)::text as row from ${sql(schema)}.${sql(name)} as one`
    await write(
      `${schema}.${name}`,
      all.map(({ row }) => row),
    )
  }
  await cp(join(stack.dir, 'logs'), join(dir, 'logs'), { recursive: true })
  return dir
}

const exactly = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)
