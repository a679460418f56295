import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Child, startChild } from '#infra/local/child'
import { repositoryDir } from '#infra/local/folders'
import { type Cluster, type PostgresPlan, planPostgres, postgresAnswers } from '#infra/local/postgres'
import { waitUntil } from '#infra/local/wait'
import { type LoginRole, loginRoles } from '#infra/migrations/databases'
import { migrateAll } from '#infra/migrations/migrate'
import { answering, freePort, onFreePorts } from './free-ports'

const password = 'admin'

/** Passwords of a suite's own Postgres. */
export const passwords = Object.fromEntries(loginRoles.map((role) => [role, `it's ${role}`])) as Record<
  LoginRole,
  string
>

export async function runPostgres(dir: string, copyOf?: Cluster): Promise<PostgresPlan & { child: Child }> {
  mkdirSync(join(dir, 'logs'), { recursive: true })
  const port = await freePort()
  const plan = await planPostgres({ dir, port, password, durable: false, copyOf })
  const child = startChild(plan.command)
  const isThere = waitUntil('postgres', () => postgresAnswers(plan.adminUrl))
  await answering({ ...plan.command, child }, isThere)
  return { ...plan, child }
}

let known: Promise<Cluster> | undefined

/**
 * Returns the cluster that suites copy: migrating one takes 1.5 s of processor time, and a full run needs 160. It is
 * created once per `clusterKey`.
 */
export function migratedCluster(): Promise<Cluster> {
  known ??= findOrMake().catch((error) => {
    known = undefined // The next suite tries again.
    throw error
  })
  return known
}

async function findOrMake(): Promise<Cluster> {
  // Only its owner can read a cluster.
  const home = join(tmpdir(), `suite-postgres-${process.getuid?.() ?? 0}-${clusterKey()}`)
  const cluster = { dataDir: join(home, 'data'), password }
  if (existsSync(home)) {
    // The new time keeps another run from removing the cluster.
    utimesSync(home, new Date(), new Date())
    return cluster
  }
  const draft = mkdtempSync(`${home}-`)
  await onFreePorts(() => make(draft))
  try {
    renameSync(join(draft, 'postgres'), home)
  } catch (error) {
    if (!existsSync(home)) throw error // If the folder exists, another suite created it first.
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  return cluster
}

async function make(dir: string): Promise<void> {
  const { adminUrl, child } = await runPostgres(dir)
  try {
    await migrateAll({ adminUrl, passwords })
  } finally {
    await child.end('SIGINT') // The server ends cleanly, so that a copy needs no recovery.
  }
}

/** Files with the passwords, the options of initdb, and some rights. */
const makers = ['test/support/engines/cluster.ts', 'infra/local/postgres.ts', 'bun.lock']
const makerDirs = ['infra/migrations', 'infra/operations/pruning']

export function clusterKey(read = (path: string) => readFileSync(path, 'utf8')): string {
  const hash = createHash('sha256')
  const namesIn = (dir: string) =>
    (readdirSync(join(repositoryDir, dir), { recursive: true }) as string[])
      .filter((name) => /\.(?:sql|ts|json)$/.test(name))
      .map((name) => join(dir, name))
  for (const name of [...makers, ...makerDirs.flatMap(namesIn)].toSorted())
    hash.update(name).update(read(join(repositoryDir, name)))
  return hash.digest('hex').slice(0, 16)
}
