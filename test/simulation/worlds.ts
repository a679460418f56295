/** Most flows of a world; with fewer, idle rounds of loops would be most of the work. */
export const flowsMax = 320

/** Returns the number of wallets, which is smaller so that flows of one wallet meet. */
export const walletsFor = (flows: number): number => Math.ceil(flows * 0.6)

export const seedOf = (seed: number, world: number): number => seed * 1_000_003 + world
