let ending: Promise<void> | undefined

/**
 * Resolves at the end of this event loop turn. Messages sent after it leave with everything else
 * queued, in one socket write. A write per message costs sender, server and reader more than the
 * message itself (measured: 400 µs per request, half of it saved).
 */
export const endOfTurn = (): Promise<void> => {
  ending ??= new Promise((resolve) => {
    setImmediate(() => {
      ending = undefined
      resolve()
    })
  })
  return ending
}
