import { accessSync, constants, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { mayRunPrograms } from '#infra/local/folders'

const inMemory = '/dev/shm'
/** Least free memory in bytes. A run's files need some 0.7 GB, its processes several times that. */
const roomMin = 4 * 1024 ** 3
/** Age in ms of a folder that a killed run left; no folder in use is as old. */
const staleMs = 12 * 3_600_000

/**
 * Returns a folder in memory, or undefined without room. A full run creates a quarter of a million files, 1,300 per
 * Postgres, and ext4 may need 0.9 ms of processor time for each.
 */
function folderInMemory(): string | undefined {
  try {
    accessSync(inMemory, constants.W_OK)
    const { bavail, bsize } = statfsSync(inMemory)
    const isRoomy = Math.min(bavail * bsize, availableMemory()) >= roomMin
    // Some suites start programs they write there.
    if (!isRoomy || !mayRunPrograms(inMemory)) return undefined
    const dir = join(inMemory, `suites-${process.getuid?.() ?? 0}`)
    // Postgres runs as another user below this folder.
    mkdirSync(dir, { recursive: true, mode: 0o711 })
    for (const name of readdirSync(dir)) removeIfStale(join(dir, name))
    return dir
  } catch {
    return undefined // The system is another one, or has no usable folder.
  }
}

/** Less does not hold the engines of one suite. */
const roomInFolder = 1024 ** 3

/** A machine's TMPDIR may be missing, too small for suites, or mounted `noexec`. */
export function isUsable(dir: string, room = roomInFolder): boolean {
  try {
    accessSync(dir, constants.W_OK | constants.X_OK)
    const { bavail, bsize } = statfsSync(dir)
    return bavail * bsize >= room && mayRunPrograms(dir)
  } catch {
    return false
  }
}

const availableMemory = (): number =>
  Number(/^MemAvailable: +(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]) * 1_024

function removeIfStale(path: string): void {
  try {
    if (Date.now() - statSync(path).mtimeMs > staleMs) rmSync(path, { recursive: true })
  } catch {
    // Another worker has removed it first.
  }
}

/** Sets TMPDIR for this process and its children, unless it is set to a usable folder. */
export function useFolderInMemory(): void {
  const { TMPDIR } = process.env
  const folder = TMPDIR && isUsable(TMPDIR) ? TMPDIR : folderInMemory()
  if (folder) process.env.TMPDIR = folder
}
