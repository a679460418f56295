let ending: Promise<void> | undefined

/**
 * Resolves when this turn of the event loop ends. What is sent after it leaves with all else that waits
 * for it in one write to the socket: alone, each message costs its sender, the server and its reader
 * more than all that is in it (measured: 400 µs a question, of which half remain).
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
