import { least } from '../payment'

/** Amounts in 10⁻⁶ AUSD. */
export type TreasuryCover = {
  readonly balanceMicro: bigint
  /** Allowance granted to the credit line. */
  readonly drawableMicro: bigint
  /** Credits and repayments queued at the relayer; all of them are also promises. */
  readonly orderedMicro: bigint
  /** Owed to cash-outs: in the treasury, or about to arrive, but not its own. */
  readonly owedMicro: bigint
  /** The most that one credit or repayment may move. */
  readonly creditMaxMicro: bigint
  readonly repayMaxMicro: bigint
  /** Everything on the chain by then is in the balance. */
  readonly readAt: Date
}

/**
 * Negative if more is promised than covered. Counts the greater of promises and queued orders,
 * because rows lost by a restore may still be orders.
 */
export function freeMicro(treasury: TreasuryCover, promisedMicro: bigint): bigint {
  const { balanceMicro, drawableMicro, orderedMicro, owedMicro } = treasury
  const taken = promisedMicro > orderedMicro ? promisedMicro : orderedMicro
  // guard: AUSD owed to cash-outs is not promised to top-ups
  return least(balanceMicro - owedMicro, drawableMicro) - taken
}

/**
 * A wallet's unpaid top-ups may hold at most half of what would be free without them: promises cost
 * nothing, so a few wallets could otherwise keep everyone else out.
 */
export const maySetAside = (
  free: bigint,
  { ausdMicro, openMicro }: { readonly ausdMicro: bigint; readonly openMicro: bigint },
  // guard: a wallet's unpaid top-ups hold at most half of the free AUSD
): boolean => 2n * (openMicro + ausdMicro) <= free + openMicro

/** Regardless of promises: a debt must be payable. */
export const canRepay = (
  { balanceMicro, drawableMicro }: Pick<TreasuryCover, 'balanceMicro' | 'drawableMicro'>,
  debtMicro: bigint,
): boolean => debtMicro <= least(balanceMicro, drawableMicro)
