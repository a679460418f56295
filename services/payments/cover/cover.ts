/** What is known of the treasury. Amounts in 10⁻⁶ AUSD. */
export type Treasury = {
  readonly balanceMicro: bigint
  /** What the credit line may take of it. */
  readonly drawableMicro: bigint
  /** What credits and repayments that the relayer has will still take; all of them are promises too. */
  readonly orderedMicro: bigint
  /** Of cash-outs: it is in the treasury, or about to be, and not its own. */
  readonly owedMicro: bigint
  /** When the chain was asked: what is on the chain by then is in the balance. */
  readonly readAt: Date
}

/**
 * What may still be promised: below 0 more was promised than is there. A row that a restored backup
 * does not have is still an order of the relayer's, so the greater of the two is taken for promised.
 */
export function freeMicro(treasury: Treasury, promisedMicro: bigint): bigint {
  const { balanceMicro, drawableMicro, orderedMicro, owedMicro } = treasury
  const taken = promisedMicro > orderedMicro ? promisedMicro : orderedMicro
  return least(balanceMicro - owedMicro, drawableMicro) - taken
}

/** What may be promised at most, all in all, so that so much more is covered; below 0: nothing covers it. */
export function promisedMax(treasury: Treasury, moreMicro: bigint): bigint {
  const leftMicro = freeMicro({ ...treasury, orderedMicro: 0n }, 0n) - moreMicro
  return treasury.orderedMicro > leftMicro ? -1n : leftMicro
}

/** Whether the treasury can repay a debt at all: a debt must be payable, whatever else was promised. */
export const canRepay = (
  { balanceMicro, drawableMicro }: Pick<Treasury, 'balanceMicro' | 'drawableMicro'>,
  debtMicro: bigint,
): boolean => debtMicro <= least(balanceMicro, drawableMicro)

const least = (left: bigint, right: bigint): bigint => (left < right ? left : right)
