import { closeSync, existsSync, openSync, readFileSync, writeSync } from 'node:fs'

export type Entry = { readonly kind: string; readonly record: { readonly id: string } }

export type Journal = {
  /** Entries that it had when it was opened. */
  readonly entries: readonly Entry[]
  append(entry: Entry): void
  close(): void
}

/** Opens a journal. An entry survives a kill once `append` has returned. */
export function openJournal(path: string): Journal {
  const entries = readJournal(path)
  // A kill may have cut the last line short, so it is ended first.
  const torn = existsSync(path) && !readFileSync(path, 'utf8').endsWith('\n')
  const file = openSync(path, 'a')
  if (torn) writeSync(file, '\n')
  return {
    entries,
    append: (entry) => void writeSync(file, `${encode(entry)}\n`),
    close: () => closeSync(file),
  }
}

/** Reads the entries, without a line that was cut short. */
function readJournal(path: string): Entry[] {
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

// Amounts are the only bigints, and their names end in `Minor`.
const reviveMinor = (key: string, value: unknown): unknown =>
  key.endsWith('Minor') && typeof value === 'string' ? BigInt(value) : value
