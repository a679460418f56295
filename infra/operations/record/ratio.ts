import type { Event } from '#infra/operations/record/line-events'

/** Constants of `Cycles.sol`, in basis points: the reward of a cycle, and the highest ratio. */
const rewardBps = 250n
const capBps = 9_000n
/** Constant of `Buckets.sol`: the number of places for the ends of holds. */
const places = 16n

type RatioTerms = {
  readonly holdSeconds: bigint
  readonly initialRatioBps: bigint
  /** Unix time of the block at which the ratio is computed. */
  readonly now: bigint
}

/**
 * Returns the ratio in basis points. `CycleClosed` reports the ratio without rewards that wait for a hold. The contract
 * credits those when it folds freed holds, or when another hold needs their place; its views count them once their hold
 * has ended.
 */
export function ratioFromEvents(
  events: readonly Event[],
  secondsOf: (event: Event) => string,
  { holdSeconds, initialRatioBps, now }: RatioTerms,
): bigint {
  const step = holdSeconds < places - 1n ? 1n : (holdSeconds + places - 2n) / (places - 1n)
  const placeOf = (until: bigint) => (until / step) % places
  let ratio = initialRatioBps
  /** End of the hold for which the open cycle will wait; 0 if it waits for none. */
  let heldUntil = 0n
  let open = 0n
  /** Ends of the holds for which closed cycles wait, by cycle number. */
  const waiting = new Map<bigint, bigint>()
  const cycleOf = new Map<string, bigint>()
  const credit = (isFreed: (until: bigint) => boolean) => {
    for (const [cycle, until] of waiting) {
      if (!isFreed(until)) continue
      ratio = ratio + rewardBps < capBps ? ratio + rewardBps : capBps
      waiting.delete(cycle)
    }
  }
  const hold = (until: bigint) => credit((other) => other !== until && placeOf(other) === placeOf(until))
  for (const event of events) {
    const at = BigInt(secondsOf(event))
    const { eventName, args } = event
    if (eventName === 'Drawn' || eventName === 'CollateralWithdrawn') credit((end) => end <= at)
    else if (eventName === 'CollateralAdded' && args.heldUntil > 0n) hold(args.heldUntil)
    else if (eventName === 'RepaymentHeld' && args.amount > 0n) {
      hold(args.heldUntil)
      heldUntil = args.heldUntil
      cycleOf.set(args.ref, open)
    } else if (eventName === 'HoldExtended') {
      hold(args.heldUntil)
      const cycle = cycleOf.get(args.ref)
      if (cycle === open && args.heldUntil > heldUntil) heldUntil = args.heldUntil
      if (cycle && args.heldUntil > (waiting.get(cycle) ?? args.heldUntil)) waiting.set(cycle, args.heldUntil)
    } else if (eventName === 'CycleOpened') {
      open = args.number
      heldUntil = 0n
    } else if (eventName === 'CycleReversed') waiting.delete(args.number)
    else if (eventName === 'CycleClosed') {
      ratio = args.ratioBpsAfter
      if (args.outcome === 0 && heldUntil > at) waiting.set(args.number, heldUntil)
      open = 0n
    } else if (eventName === 'DefaultMarked') waiting.clear()
  }
  credit((end) => end <= now)
  return ratio
}
