/** Fees of a type-2 transaction, in wei per gas. */
export type Fees = { readonly maxFeeWei: bigint; readonly priorityWei: bigint }

/**
 * Headroom costs nothing: both the charge and the reserve budget of Monad use
 * min(maxFee, base + priority). The floor is twice Monad's least base fee of 100 gwei.
 */
const gwei = 1_000_000_000n
const floorWei = 200n * gwei
const headroom = 4n
const priorityWei = 2n * gwei
/** Above this nothing is worth sending; a bump still rises, by the least there is. */
const capOver = 40n
const bumpPercent = 25n

/** Fees of a first attempt. */
export const feesFor = (baseFeeWei: bigint): Fees => ({
  maxFeeWei: atLeast(baseFeeWei * headroom, floorWei),
  priorityWei,
})

/**
 * Fees of the next attempt at the same nonce: a quarter more on both (nodes other than Monad want
 * at least a tenth on both), and no less than a first attempt would pay now. Always strictly more.
 */
export function bumped(last: Fees, baseFeeWei: bigint): Fees {
  const capWei = atLeast(baseFeeWei * capOver, floorWei * 4n)
  const fresh = feesFor(baseFeeWei)
  const maxFeeWei = raised(last.maxFeeWei, fresh.maxFeeWei, capWei)
  const wanted = raised(last.priorityWei, fresh.priorityWei, capWei)
  return { maxFeeWei, priorityWei: atMost(wanted, maxFeeWei) }
}

function raised(lastWei: bigint, freshWei: bigint, capWei: bigint): bigint {
  const more = atLeast((lastWei * (100n + bumpPercent) + 99n) / 100n, freshWei)
  return atLeast(atMost(more, capWei), lastWei + 1n)
}

const atLeast = (left: bigint, right: bigint) => (left > right ? left : right)
const atMost = (left: bigint, right: bigint) => (right < left ? right : left)

/** A gas limit for another try: half as much again each time, below a block's share. */
export const raisedGas = (gas: bigint, tries: number): bigint => {
  const raisedBy = gas + (gas * BigInt(Math.min(tries, 6))) / 2n
  return atMost(raisedBy, gasMax)
}
/** Monad refuses more than this in one transaction. */
export const gasMax = 30_000_000n
