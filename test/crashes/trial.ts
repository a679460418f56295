import type { Item } from './path'
import type { World } from './world'

/** What became of the kills of a trial. */
export type Outcome = {
  /** The item, counted from 1, during which each kill came; null: it did not come. */
  readonly metIn: readonly (number | null)[]
  readonly seconds: number
  /** Why it is no success; null: each item had its effect exactly once. */
  readonly fault: string | null
}

/** As many items as there are kills, and one more: a boundary is met by the first or never. */
const itemsMax = (kills: readonly string[]) => kills.length + 1

/**
 * Kills at each of these in turn, while one item after the other goes to its end: the first meets them
 * all if its recovery passes them again, else the next one meets what is left.
 */
export async function tryKills(
  world: Pick<World, 'arm' | 'left' | 'disarm'>,
  ready: () => Promise<Item>,
  kills: readonly string[],
): Promise<Outcome> {
  const startedMs = performance.now()
  const metIn: (number | null)[] = kills.map(() => null)
  let fault: string | null = null
  try {
    let item = await ready()
    world.arm(kills)
    for (let count = 1; count <= itemsMax(kills); count++) {
      if (count > 1) item = await ready()
      await item()
      const met = kills.length - world.left().length
      for (let at = 0; at < met; at++) metIn[at] ??= count
      if (met === kills.length) break
    }
  } catch (error) {
    fault = (error as Error).message
  }
  world.disarm()
  if (fault === null && metIn.includes(null)) fault = `nobody passed ${kills[metIn.indexOf(null)]}`
  return { metIn, fault, seconds: (performance.now() - startedMs) / 1_000 }
}
