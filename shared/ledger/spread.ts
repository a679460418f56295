// A spread makes a dollar dearer by so many basis points of the rate before it. What it came to is
// asked of what was exchanged, so that a part that was given back takes its share with it.

const basis = 10_000n

/** What a payer would have got more at the rate before the spread: 10⁻⁶ AUSD, rounded down. */
export const keptFloor = (worthMicro: bigint, spreadBps: number): bigint =>
  (worthMicro * BigInt(spreadBps)) / basis

/** What a payee would have got less at the rate before the spread: smallest units, rounded down. */
export const givenFloor = (fiatMinor: bigint, spreadBps: number): bigint =>
  (fiatMinor * BigInt(spreadBps)) / (basis + BigInt(spreadBps))
