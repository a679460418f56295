import { least } from '../payment'

/** Cover of promises by the treasury; amounts in 10⁻⁶ AUSD. */
export type TreasuryCover = {
  readonly balanceMicro: bigint
  /** Allowance granted to the credit line. */
  readonly drawableMicro: bigint
  /** Credits and repayments queued at the relayer; all of them are also promises. */
  readonly orderedMicro: bigint
  /** AUSD owed to cash-outs: it is in the treasury, or about to arrive, but not the treasury's own. */
  readonly owedMicro: bigint
  /** Maximum that one credit or repayment may move. */
  readonly creditMaxMicro: bigint
  readonly repayMaxMicro: bigint
  /** Time up to which everything on the chain is included in the balance. */
  readonly readAt: Date
}

/**
 * Returns the AUSD that is not promised, negative if more is promised than covered. Counts the greater of
 * promises and queued orders, because rows lost by a restore may still be orders.
 */
export function freeMicro(treasury: TreasuryCover, promisedMicro: bigint): bigint {
  const { balanceMicro, drawableMicro, orderedMicro, owedMicro } = treasury
  const taken = promisedMicro > orderedMicro ? promisedMicro : orderedMicro
  // guard: AUSD owed to cash-outs is not promised to top-ups
  return least(balanceMicro - owedMicro, drawableMicro) - taken
}

/**
 * Returns true if a wallet's unpaid top-ups hold at most half of the AUSD that would be free without them.
 * Promises cost nothing, so a few wallets could otherwise keep all others out.
 */
export const maySetAside = (
  free: bigint,
  { ausdMicro, openMicro }: { readonly ausdMicro: bigint; readonly openMicro: bigint },
  // guard: a wallet's unpaid top-ups hold at most half of the free AUSD
): boolean => 2n * (openMicro + ausdMicro) <= free + openMicro

/** Returns true if the treasury can repay the debt, regardless of promises: a debt must be payable. */
export const canRepay = (
  { balanceMicro, drawableMicro }: Pick<TreasuryCover, 'balanceMicro' | 'drawableMicro'>,
  debtMicro: bigint,
): boolean => debtMicro <= least(balanceMicro, drawableMicro)
