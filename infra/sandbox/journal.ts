import { closeSync, existsSync, openSync, readFileSync, writeSync } from 'node:fs'

/** One line of the journal: the record as it stands after a change. */
export type Entry = { readonly kind: string; readonly record: { readonly id: string } }

/** Where changes are written down before anybody is told of them. */
export type Journal = { append(entry: Entry): void; close(): void }

/** A journal that forgets: for runs that nobody restarts. */
export const noJournal: Journal = { append() {}, close() {} }

/** Opens the file for appending. A kill loses nothing that `append` returned from. */
export function openJournal(path: string): Journal {
  // A kill in the middle of a line must not spoil the line that follows it.
  const torn = existsSync(path) && !readFileSync(path, 'utf8').endsWith('\n')
  const file = openSync(path, 'a')
  if (torn) writeSync(file, '\n')
  return {
    append: (entry) => void writeSync(file, `${encode(entry)}\n`),
    close: () => closeSync(file),
  }
}

/** Reads a journal back, oldest first; a torn line is passed over. */
export function readJournal(path: string): Entry[] {
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8').split('\n').flatMap(decode)
}

const encode = (entry: Entry): string =>
  JSON.stringify(entry, (_key, value) => (typeof value === 'bigint' ? value.toString() : value))

function decode(line: string): Entry[] {
  try {
    return [JSON.parse(line, reviveMinor)]
  } catch {
    return []
  }
}

// Amounts are the only bigints, and their names say so.
const reviveMinor = (key: string, value: unknown): unknown =>
  key.endsWith('Minor') && typeof value === 'string' ? BigInt(value) : value
