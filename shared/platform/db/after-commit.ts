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

const silent = new WeakSet<object>()

/** Makes later announcements of a transaction throw. */
export const announceNothing = (tx: object): void => void silent.add(tx)

/** Announces something at the commit. This is only a shortcut: the poller picks up the rows of a process that died. */
export function announceAtCommit(tx: object, announcement: unknown): void {
  if (silent.has(tx)) throw new Error('a power cut may undo this transaction after it was announced')
  noting.get(tx)?.announcements.push(announcement)
}
