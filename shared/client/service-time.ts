/** Differences that the way of an answer explains, in ms. */
const toleranceMs = 60_000

/** Time in ms by which the clock of the service is ahead of this device's, which may be wrong by days. */
let aheadMs = 0

/** Learns the time of the service, in Unix ms, from an answer that has just arrived. */
export function learnServiceTime(serverMs: number | undefined): void {
  if (serverMs === undefined) return
  const differenceMs = serverMs - Date.now()
  aheadMs = Math.abs(differenceMs) > toleranceMs ? differenceMs : 0
}

/** Returns the time by the clock of the service in Unix ms; that of the device until an answer has told it. */
export const serviceMs = (): number => Date.now() + aheadMs
