import { Database } from 'bun:sqlite'
import { existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartFault } from './faults'

/** Who runs a stack in a folder: the process that started it, since when (ISO 8601), and whether it ends now. */
export type FolderOwner = { pid: number; since: string; isEnding?: boolean }

/** A folder that is one stack's until it is given back. */
export type OwnedFolder = Disposable & {
  /** Tells whoever asks that the stack is ending. */
  readonly ending: () => void
}

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
export function ownFolder(dir: string): OwnedFolder {
  mkdirSync(dir, { recursive: true })
  const lock = usableLock(dir)
  if (!lock) throw new FolderTaken(dir, ownerNote(dir))
  const owner: FolderOwner = { pid: process.pid, since: new Date().toISOString() }
  const note = (content: FolderOwner) =>
    writeFileSync(ownerPath(dir), `${JSON.stringify(content)}\n`)
  note(owner)
  return {
    ending: () => {
      try {
        note({ ...owner, isEnding: true })
      } catch {
        // A disk that is full keeps no stack from ending.
      }
    },
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

/** Throws `FolderTaken` when a stack runs in the folder, or is being started there; writes nothing. */
export function assertFree(dir: string): void {
  if (existsSync(lockPath(dir)) && !isAbandoned(dir)) throw new FolderTaken(dir, ownerNote(dir))
}

/** The lock, or none when another has it; throws `StartFault` when there cannot be one. */
function usableLock(dir: string): Database | undefined {
  try {
    return tryLock(dir)
  } catch (error) {
    throw new StartFault(
      `${lockPath(dir)} cannot be used as a lock (${(error as Error).message})`,
      'remove it, then start again',
    )
  }
}

/** Whoever only asks holds the lock for a moment: a start waits that long. */
const waitMs = 500

function tryLock(dir: string, { create = true } = {}): Database | undefined {
  try {
    return lockOnce(dir, create)
  } catch (error) {
    if (!unreadable.has((error as { code?: string }).code ?? '')) throw error
    // Nobody has it: of a lock that is held nothing is read. What it contains means nothing.
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
