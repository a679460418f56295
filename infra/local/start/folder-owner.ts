import { Database } from 'bun:sqlite'
import { existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartFault } from './faults'

/** `since` is ISO 8601. */
export type FolderOwner = { pid: number; since: string; isEnding?: boolean }

export type OwnedFolder = Disposable & {
  readonly ending: () => void
}

export class FolderTaken extends Error {
  override name = 'FolderTaken'
  constructor(
    readonly dir: string,
    readonly owner: FolderOwner | undefined,
  ) {
    const who = owner ? `process ${owner.pid}, since ${owner.since}` : 'another process'
    super(`a stack is already running in ${dir} (${who})`)
  }
}

const lockPath = (dir: string) => join(dir, 'stack.lock')
const ownerPath = (dir: string) => join(dir, 'stack.owner.json')

/** Throws `FolderTaken`. SQLite's kernel lock ends with its process, so a folder never stays locked. */
export function ownFolder(dir: string): OwnedFolder {
  mkdirSync(dir, { recursive: true })
  const lock = usableLock(dir)
  if (!lock) throw new FolderTaken(dir, ownerNote(dir))
  const owner: FolderOwner = { pid: process.pid, since: new Date().toISOString() }
  const note = (content: FolderOwner) => writeFileSync(ownerPath(dir), `${JSON.stringify(content)}\n`)
  note(owner)
  return {
    ending: () => {
      try {
        note({ ...owner, isEnding: true })
      } catch {
        // A full disk must not prevent a stack from ending.
      }
    },
    [Symbol.dispose]: () => {
      rmSync(ownerPath(dir), { force: true })
      lock.close()
    },
  }
}

/** No stack runs in the folder, whatever files it left there. */
export function isAbandoned(dir: string): boolean {
  try {
    const lock = tryLock(dir, { create: false })
    lock?.close()
    return lock !== undefined
  } catch {
    return false // No lock file: the stack file comes from compose or another machine.
  }
}

/** Throws `FolderTaken`; writes nothing. */
export function assertFree(dir: string): void {
  if (existsSync(lockPath(dir)) && !isAbandoned(dir)) throw new FolderTaken(dir, ownerNote(dir))
}

/** Undefined if another process holds the lock. */
function usableLock(dir: string): Database | undefined {
  try {
    return tryLock(dir)
  } catch (error) {
    throw new StartFault(
      `${lockPath(dir)} cannot be used as a lock (${(error as Error).message})`,
      'Remove it, then start again.',
    )
  }
}

/** `isAbandoned` holds the lock for a moment. */
const waitMs = 500

function tryLock(dir: string, { create = true } = {}): Database | undefined {
  try {
    return lockOnce(dir, create)
  } catch (error) {
    if (!unreadable.has((error as { code?: string }).code ?? '')) throw error
    // A held lock fails with SQLITE_BUSY before its content is read, so this one is free and corrupt.
    truncateSync(lockPath(dir))
    return lockOnce(dir, create)
  }
}

const unreadable: ReadonlySet<string> = new Set(['SQLITE_NOTADB', 'SQLITE_CORRUPT'])

function lockOnce(dir: string, create: boolean): Database | undefined {
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
