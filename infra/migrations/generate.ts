import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  type DatabaseRole,
  databaseRoles,
  migrationsDir,
  serviceOf,
} from '#infra/migrations/databases'

const repositoryDir = dirname(dirname(import.meta.dir))

/**
 * Writes the migration that leads from the last snapshot in `out` to the tables of the service's
 * store files, if they differ. Returns the tool's last line. Throws with its output when it fails.
 */
export function generate(role: DatabaseRole, name: string, out = migrationsDir(role)): string {
  const service = serviceOf(role)
  if (!existsSync(join(repositoryDir, 'services', service, 'schema.store.ts'))) return 'no tables'
  const run = spawnSync(
    process.execPath,
    [
      join(repositoryDir, 'node_modules/drizzle-kit/bin.cjs'),
      'generate',
      ...['--dialect', 'postgresql', '--name', name, '--out', out],
      ...['--schema', `services/${service}/**/*.store.ts`],
    ],
    { cwd: repositoryDir, encoding: 'utf8', timeout: 60_000 },
  )
  // The tool asks on the terminal whether a column was renamed; without one it ends with an error.
  if (run.status !== 0) throw new Error(`drizzle-kit, ${service}: ${run.stdout}\n${run.stderr}`)
  makeSchemasRepeatable(out)
  return run.stdout.trim().split('\n').at(-1) ?? ''
}

/** The schema may exist: `migrateAll` makes it before the first migration, to grant rights on it. */
function makeSchemasRepeatable(out: string): void {
  for (const file of readdirSync(out).filter((name) => name.endsWith('.sql'))) {
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
