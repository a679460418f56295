export type Listener = (announcement: unknown) => void

type Noting = { readonly listeners: ReadonlySet<Listener>; readonly announcements: unknown[] }
const noting = new WeakMap<object, Noting>()

/** Collects the announcements of a transaction. Returns the function that delivers them, for use after the commit. */
export function takeAnnouncements(tx: object, listeners: ReadonlySet<Listener>): () => void {
  const announcements: unknown[] = []
  noting.set(tx, { listeners, announcements: announcements })
  return () => {
    for (const listener of listeners) for (const announcement of announcements) listener(announcement)
  }
}

export const isHeard = (tx: object): boolean => (noting.get(tx)?.listeners.size ?? 0) > 0

const announcing = new WeakSet<object>()
const silent = new WeakSet<object>()
const mayBeUndone = () => new Error('a crash of Postgres may undo this transaction after it was announced')

/** Makes a transaction throw that announces something, whether it has done so or does later. */
export function announceNothing(tx: object): void {
  if (announcing.has(tx)) throw mayBeUndone()
  silent.add(tx)
}

/** Notes that a transaction stores something that is announced, as soon as that is known: a statement may still be on its way. */
export function willAnnounce(tx: object): void {
  if (silent.has(tx)) throw mayBeUndone()
  announcing.add(tx)
}

/** Announces something at the commit. This is only a shortcut: the poller picks up the rows of a process that died. */
export const announceAtCommit = (tx: object, announcement: unknown): void =>
  void noting.get(tx)?.announcements.push(announcement)
