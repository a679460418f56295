import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { type DatabaseRole, databaseRoles, migrationsDir, serviceOf, tablesDir } from '#infra/migrations/databases'

const repositoryDir = dirname(dirname(import.meta.dir))

/** Generates a migration. Returns the new file's name, `unchanged` or `no tables`. */
export function generate(role: DatabaseRole, name: string, out = migrationsDir(role)): string {
  const service = serviceOf(role)
  const tables = tablesDir(role)
  if (!existsSync(join(repositoryDir, tables, 'schema.store.ts'))) return 'no tables'
  const before = new Set(sqlFilesOf(out))
  const run = spawnSync(
    process.execPath,
    [
      join(repositoryDir, 'node_modules/drizzle-kit/bin.cjs'),
      'generate',
      '--dialect',
      'postgresql',
      '--name',
      name,
      // With an absolute path this version of drizzle-kit fails on every run but the first.
      '--out',
      relative(repositoryDir, out),
      '--schema',
      `${tables}/**/*.{store,table}.ts`,
    ],
    { cwd: repositoryDir, encoding: 'utf8', timeout: 60_000 },
  )
  // drizzle-kit exits with 0 even if it failed or had to ask whether a column was renamed.
  if (!/No schema changes|Your SQL migration file/.test(run.stdout))
    throw new Error(
      `drizzle-kit wrote no migration for ${service} (for a renamed column, run it in a ` +
        `terminal):\n${run.stdout}\n${run.stderr}`,
    )
  makeSchemasRepeatable(out)
  return sqlFilesOf(out).find((file) => !before.has(file)) ?? 'unchanged'
}

const sqlFilesOf = (out: string): string[] =>
  existsSync(out) ? readdirSync(out).filter((file) => file.endsWith('.sql')) : []

/** Makes the creation of schemas repeatable, because `migrateAll` creates them before the first migration runs. */
function makeSchemasRepeatable(out: string): void {
  for (const file of sqlFilesOf(out)) {
    const path = join(out, file)
    const before = readFileSync(path, 'utf8')
    const after = before.replace(/^CREATE SCHEMA "/gm, 'CREATE SCHEMA IF NOT EXISTS "')
    if (after !== before) writeFileSync(path, after)
  }
}

if (import.meta.main) {
  for (const role of databaseRoles) {
    console.log(`${serviceOf(role)}: ${generate(role, process.argv[2] ?? 'change')}`)
  }
}
