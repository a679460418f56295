import {
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { cp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

export const repositoryDir = dirname(dirname(import.meta.dir))

/** User id of `nobody`, which exists everywhere and owns nothing. Postgres refuses to run as root. */
export const nobodyUid = 65_534
export const asRoot = process.getuid?.() === 0

/** Returns whether `nobody` can reach a path. False for most paths in root's home. */
export function openToNobody(path: string): boolean {
  for (let step = path; ; step = dirname(step)) {
    if ((statSync(step).mode & constants.S_IXOTH) === 0) return false
    if (step === dirname(step)) return true
  }
}

/** False in a folder that is mounted `noexec`, as `/tmp` is on some machines. `mounts`: text of `/proc/mounts`. */
export function mayRunPrograms(dir: string, mounts = mountsText()): boolean {
  const path = `${realpathSync(dir)}/`
  const around = mounts
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, place = '']) => path.startsWith(place === '/' ? place : `${place}/`))
  const [, , , options = ''] = around.toSorted(([, a = ''], [, b = '']) => a.length - b.length).at(-1) ?? []
  return !options.split(',').includes('noexec')
}

/** Empty on other systems. */
function mountsText(): string {
  try {
    return readFileSync('/proc/mounts', 'utf8')
  } catch {
    return ''
  }
}

export function emptyFolder(path: string): string {
  rmSync(path, { recursive: true, force: true })
  mkdirSync(path, { recursive: true })
  return path
}

/** PostgreSQL's programs start each other through a shell, with their path in double quotes. */
const isShellSafe = (path: string): boolean => !/["$`\\]/.test(path)

/** Returns `source`, or a copy in the temporary folder if `nobody` or a shell cannot reach it. */
export async function reachableCopy(source: string, name: string): Promise<string> {
  if (isShellSafe(source) && (!asRoot || openToNobody(source))) return source
  const copy = join(tmpdir(), `${name}-of-${process.getuid?.() ?? 0}`)
  if (existsSync(copy)) return copy
  const draft = mkdtempSync(`${copy}-`)
  try {
    await cp(source, draft, { recursive: true, verbatimSymlinks: true })
    openToAll(draft)
    renameSync(draft, copy)
  } catch (error) {
    if (!existsSync(copy)) throw error // Otherwise another stack copied it first.
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  return copy
}

/** Under a umask such as 077, `nobody` could enter no folder of the copy. */
function openToAll(dir: string): void {
  chmodSync(dir, 0o755)
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name)
    if (entry.isDirectory()) openToAll(path)
    else if (entry.isFile()) chmodSync(path, statSync(path).mode & constants.S_IXUSR ? 0o755 : 0o644)
  }
}
