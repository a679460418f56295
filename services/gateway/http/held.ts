/** Bytes that one slow client makes this process hold, and how to give them up. */
type Held = { readonly bytes: number; readonly drop: () => void }

/**
 * Opens an account of bytes that are held for slow clients. `hold` adds some and returns a function that
 * releases them. Beyond the limit, those held longest are dropped, because they belong to the slowest client.
 */
export function openHeld(bytesMax: number) {
  const all = new Set<Held>() // In the order in which they were added.
  let total = 0
  const remove = (one: Held) => {
    if (all.delete(one)) total -= one.bytes
  }
  return (bytes: number, drop: () => void): (() => void) => {
    const added = { bytes, drop }
    all.add(added)
    total += bytes
    for (const oldest of all) {
      if (total <= bytesMax || oldest === added) break
      remove(oldest)
      oldest.drop()
    }
    return () => remove(added)
  }
}
