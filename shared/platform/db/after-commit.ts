/** Receives the notes of transactions after their commit. */
export type Listener = (note: unknown) => void

type Noting = { readonly listeners: ReadonlySet<Listener>; readonly notes: unknown[] }
const noting = new WeakMap<object, Noting>()

/**
 * Starts collecting notes in a transaction. Returns a function that delivers them, to be called
 * after the commit.
 */
export function takeNotes(tx: object, listeners: ReadonlySet<Listener>): () => void {
  const notes: unknown[] = []
  noting.set(tx, { listeners, notes })
  return () => {
    for (const listener of listeners) for (const note of notes) listener(note)
  }
}

/** Returns whether notes of this transaction have a listener. */
export const isHeard = (tx: object): boolean => (noting.get(tx)?.listeners.size ?? 0) > 0

/**
 * Adds a note to deliver once the transaction has committed. A shortcut only: if the process dies
 * or the commit reply is lost, the poller picks the rows up.
 */
export const noteForCommit = (tx: object, note: unknown): void =>
  void noting.get(tx)?.notes.push(note)
