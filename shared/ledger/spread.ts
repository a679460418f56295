// A spread raises the price of a dollar by basis points of the rate before it, or lowers it if it is negative. It is computed from the exchanged
// amount, so a partial refund reduces it proportionally.

const basis = 10_000n

/** Returns the amount kept from a payer: the additional 10⁻⁶ AUSD at the rate before the spread, rounded down. */
export const spreadIncomeFloor = (worthMicro: bigint, spreadBps: number): bigint =>
  (worthMicro * BigInt(spreadBps)) / basis

/**
 * Returns the amount given to a payee: the smallest units above the amount at the rate before the spread, rounded down. It is
 * negative, an amount kept, if the spread is.
 */
export const givenFloor = (fiatMinor: bigint, spreadBps: number): bigint =>
  (fiatMinor * BigInt(spreadBps)) / (basis + BigInt(spreadBps))
