/** Time between two blocks of Monad in ms (MIP-12). */
export const blockMs = 300

/** Returns how many blocks Monad makes in a number of hours. */
export const blocksIn = (hours: number): bigint => BigInt(Math.ceil((hours * 3_600_000) / blockMs))
