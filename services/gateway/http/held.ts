type Held = { readonly bytes: number; readonly drop: () => void }

/** Counts bytes held for clients. Beyond the limit it drops the oldest, which belong to the slowest client. */
export function openHeld(bytesMax: number) {
  const all = new Set<Held>() // The set keeps the order of arrival.
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
