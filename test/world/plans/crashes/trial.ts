/** Plays an item. Throws unless it took effect exactly once. */
export type Item = () => Promise<void>

/** Kills the next process at each boundary in turn. */
export type Kills = {
  readonly arm: (boundaries: readonly string[]) => void
  readonly disarm: () => void
  /** Returns the boundaries that were not reached yet. */
  readonly left: () => string[]
}

export type Outcome = {
  /** Item that each kill hit, counted from 1, or null if its boundary was never reached. */
  readonly metIn: readonly (number | null)[]
  readonly seconds: number
  /** Fault of the trial, or null if each item took effect exactly once. */
  readonly fault: string | null
}

/** Number of items: one for each kill and one more. */
const itemsMax = (kills: readonly string[]) => kills.length + 1

/**
 * Runs a trial. The first item meets all kills if its recovery passes the later boundaries; otherwise the next one
 * meets the rest.
 */
export async function tryKills(armed: Kills, ready: () => Promise<Item>, kills: readonly string[]): Promise<Outcome> {
  const startedMs = performance.now()
  const metIn: (number | null)[] = kills.map(() => null)
  let fault: string | null = null
  try {
    let item = await ready()
    armed.arm(kills)
    for (let count = 1; count <= itemsMax(kills); count++) {
      if (count > 1) item = await ready()
      await item()
      const met = kills.length - armed.left().length
      for (let at = 0; at < met; at++) metIn[at] ??= count
      if (met === kills.length) break
    }
  } catch (error) {
    fault = (error as Error).message
  }
  armed.disarm()
  if (fault === null && metIn.includes(null)) fault = `never reached ${kills[metIn.indexOf(null)]}`
  return { metIn, fault, seconds: (performance.now() - startedMs) / 1_000 }
}
