type Held = { readonly bytes: number; readonly drop: () => void }

/** Beyond the limit the oldest, of the slowest client, are dropped. */
export function openHeld(bytesMax: number) {
  const all = new Set<Held>() // In the order of arrival.
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
