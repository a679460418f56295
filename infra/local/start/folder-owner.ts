import { Database } from 'bun:sqlite'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Who runs a stack in a folder: the process that started it, and since when (ISO 8601). */
export type FolderOwner = { pid: number; since: string }

/** Another stack runs in the folder, or is being started there. */
export class FolderTaken extends Error {
  override name = 'FolderTaken'
  constructor(
    readonly dir: string,
    readonly owner: FolderOwner | undefined,
  ) {
    const who = owner ? `process ${owner.pid}, since ${owner.since}` : 'another process'
    super(`a stack runs in ${dir} (${who})`)
  }
}

const lockPath = (dir: string) => join(dir, 'stack.lock')
const ownerPath = (dir: string) => join(dir, 'stack.owner.json')

/**
 * Takes the folder for one stack, or throws `FolderTaken`. The lock is one of the kernel's, by way of
 * SQLite, so it ends with its process however that ends: a folder is never left locked.
 */
export function ownFolder(dir: string): Disposable {
  mkdirSync(dir, { recursive: true })
  const lock = tryLock(dir)
  if (!lock) throw new FolderTaken(dir, ownerNote(dir))
  const owner: FolderOwner = { pid: process.pid, since: new Date().toISOString() }
  writeFileSync(ownerPath(dir), `${JSON.stringify(owner)}\n`)
  return {
    [Symbol.dispose]: () => {
      rmSync(ownerPath(dir), { force: true })
      lock.close()
    },
  }
}

/** Whether the stack that ran in the folder is gone, whatever files it left there. */
export function isAbandoned(dir: string): boolean {
  try {
    const lock = tryLock(dir, { create: false })
    lock?.close()
    return lock !== undefined
  } catch {
    return false // What is described there was not started by `bun run start`: compose, another machine.
  }
}

/** Whether a stack runs in the folder, or is being started there. */
export const isTaken = (dir: string): boolean => existsSync(lockPath(dir)) && !isAbandoned(dir)

/** Whoever only asks holds the lock for a moment: a start waits that long. */
const waitMs = 500

function tryLock(dir: string, { create = true } = {}): Database | undefined {
  const lock = new Database(lockPath(dir), { readwrite: true, create })
  try {
    lock.run(`pragma busy_timeout = ${create ? waitMs : 0}`)
    lock.run('begin exclusive')
    return lock
  } catch (error) {
    lock.close()
    if ((error as { code?: string }).code === 'SQLITE_BUSY') return undefined
    throw error
  }
}

function ownerNote(dir: string): FolderOwner | undefined {
  try {
    return JSON.parse(readFileSync(ownerPath(dir), 'utf8')) as FolderOwner
  } catch {
    return undefined
  }
}
