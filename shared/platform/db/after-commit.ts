export type Listener = (note: unknown) => void

type Noting = { readonly listeners: ReadonlySet<Listener>; readonly notes: unknown[] }
const noting = new WeakMap<object, Noting>()

/** Returns the function that delivers the notes, for after the commit. */
export function takeNotes(tx: object, listeners: ReadonlySet<Listener>): () => void {
  const notes: unknown[] = []
  noting.set(tx, { listeners, notes })
  return () => {
    for (const listener of listeners) for (const note of notes) listener(note)
  }
}

export const isHeard = (tx: object): boolean => (noting.get(tx)?.listeners.size ?? 0) > 0

/** A shortcut only: the poller picks up the rows of a process that died. */
export const noteForCommit = (tx: object, note: unknown): void => void noting.get(tx)?.notes.push(note)
