import {
  accessSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'

const inMemory = '/dev/shm'
/** A whole run fills some 0.7 GB of it, and its processes take as much again several times. */
const roomMin = 4 * 1024 ** 3
/** Left behind by a run that was killed: nothing that is in use is as old. */
const staleMs = 12 * 3_600_000

/**
 * Where suites keep what they make, for as long as they run: in memory where there is room for it,
 * otherwise undefined. A whole run makes a quarter of a million files, 1,300 for each Postgres, and ext4
 * may take up to 0.9 ms of processor time for one, where that part of the disk is crowded. The suites of
 * payments and payouts took 43 s of it here, and 59 s in `/tmp` (measured).
 */
export function folderInMemory(): string | undefined {
  try {
    accessSync(inMemory, constants.W_OK)
    const { bavail, bsize } = statfsSync(inMemory)
    const isRoomy = Math.min(bavail * bsize, availableMemory()) >= roomMin
    if (!isRoomy || !mayRun()) return undefined
    const dir = join(inMemory, `suites-${process.getuid?.() ?? 0}`)
    // Postgres runs as another user, below it.
    mkdirSync(dir, { recursive: true, mode: 0o711 })
    for (const name of readdirSync(dir)) removeIfStale(join(dir, name))
    return dir
  } catch {
    return undefined // Another system, or nothing that we may use.
  }
}

const availableMemory = (): number =>
  Number(/^MemAvailable: +(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]) * 1_024

/** Some suites start programs that they write. */
const mayRun = (): boolean =>
  readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, place]) => place === inMemory)
    .every(([, , , options = '']) => !options.split(',').includes('noexec'))

function removeIfStale(path: string): void {
  try {
    if (Date.now() - statSync(path).mtimeMs > staleMs) rmSync(path, { recursive: true })
  } catch {
    // Another worker removed it first.
  }
}
