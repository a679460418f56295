import type { Me } from '#shared/client/client'
import type { ClientConfig } from './chain'

const daySeconds = 86_400

/** Returns true if the credit line can repay automatically. Older ones cannot. */
export const canRepayAutomatically = ({ chain: { gasLimits } }: Pick<ClientConfig, 'chain'>): boolean =>
  gasLimits.setAutoRepay !== undefined && gasLimits.approve !== undefined

/**
 * Returns the first unix second of the repayment by the rule of the contract: a day before the due date, or half of a
 * term that is shorter than two days.
 */
export const startsAt = (dueAt: string, termSeconds: number): string =>
  String(Number(dueAt) - (termSeconds < 2 * daySeconds ? Math.floor(termSeconds / 2) : daySeconds))

type Account = Pick<Me, 'drawn' | 'balance' | 'collateral' | 'autoRepay'>

/** Amounts are in 10⁻⁶ AUSD. */
export type Shortage =
  /** All that is allowed for the open cycle was taken, and `rest` is owed. */
  | { readonly kind: 'used'; readonly rest: string }
  /** The source has only `has` of the `needed` amount, so that a try would fail. */
  | { readonly kind: 'source'; readonly has: string; readonly needed: string }
  /** The credit line may no longer take the `needed` amount from the wallet, so that a try would fail. */
  | { readonly kind: 'approval'; readonly needed: string }
  /** `rest` of the debt is more than is allowed. */
  | { readonly kind: 'most'; readonly rest: string }

/**
 * Returns what keeps the debt from being repaid automatically in full. `allowance` is what the credit line may take from
 * the wallet, or undefined if that is not known or not needed.
 */
export function shortageOf(
  { drawn, balance, collateral, autoRepay }: Account,
  allowance?: string,
): Shortage | undefined {
  const owed = BigInt(drawn)
  if (!autoRepay || owed === 0n) return undefined
  const left = BigInt(autoRepay.maxPerCycle) - BigInt(autoRepay.taken)
  if (left <= 0n) return { kind: 'used', rest: drawn }
  const needed = owed < left ? owed : left
  const has = autoRepay.source === 'wallet' ? balance.ausd : collateral.value
  if (BigInt(has) < needed) return { kind: 'source', has, needed: String(needed) }
  if (autoRepay.source === 'wallet' && allowance !== undefined && BigInt(allowance) < needed)
    return { kind: 'approval', needed: String(needed) }
  return needed < owed ? { kind: 'most', rest: String(owed - needed) } : undefined
}
