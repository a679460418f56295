/** Enough that idle loop rounds are not most of the work. */
export const flowsMax = 320

/** Fewer wallets than flows, so that flows of one wallet meet. */
export const walletsFor = (flows: number): number => Math.ceil(flows * 0.6)

export const seedOf = (seed: number, world: number): number => seed * 1_000_003 + world
