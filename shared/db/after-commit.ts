/** Hears what transactions noted, once they have committed. */
export type Listener = (note: unknown) => void

type Noting = { readonly listeners: ReadonlySet<Listener>; readonly notes: unknown[] }
const noting = new WeakMap<object, Noting>()

/** Begins to take notes in a transaction; the answer tells them, and is called after its commit. */
export function takeNotes(tx: object, listeners: ReadonlySet<Listener>): () => void {
  const notes: unknown[] = []
  noting.set(tx, { listeners, notes })
  return () => {
    for (const listener of listeners) for (const note of notes) listener(note)
  }
}

/** Whether anybody would hear a note of this transaction. */
export const isHeard = (tx: object): boolean => (noting.get(tx)?.listeners.size ?? 0) > 0

/**
 * Notes what is to be told once the transaction has committed. It saves a look at the rows: of a commit
 * whose answer was lost, or a process that died, nobody is told.
 */
export const noteForCommit = (tx: object, note: unknown): void =>
  void noting.get(tx)?.notes.push(note)
