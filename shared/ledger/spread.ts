// A spread raises the price of a dollar by basis points of the rate before it. Computed from the
// exchanged amount, a partial refund reduces it proportionally.

const basis = 10_000n

/** Kept from a payer: additional 10⁻⁶ AUSD at the rate before the spread, rounded down. */
export const spreadIncomeFloor = (worthMicro: bigint, spreadBps: number): bigint =>
  (worthMicro * BigInt(spreadBps)) / basis

/**
 * Given to a payee: smallest units above the amount at the rate before the spread, rounded down.
 */
export const givenFloor = (fiatMinor: bigint, spreadBps: number): bigint =>
  (fiatMinor * BigInt(spreadBps)) / (basis + BigInt(spreadBps))
