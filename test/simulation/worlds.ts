/** Enough that what a loop does that finds nothing is not most of what there is to do. */
export const flowsMax = 320

/** Several flows are of the same wallet, and meet each other. */
export const walletsFor = (flows: number): number => Math.ceil(flows * 0.6)

/** What everything in a world of a run follows from. */
export const seedOf = (seed: number, world: number): number => seed * 1_000_003 + world
