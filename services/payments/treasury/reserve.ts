import { lockNamed } from '#platform/db/lock'
import type { Tx } from '#platform/db/open'
import { type Answer, ok, refuse } from '#shared/refusals'
import { canRepay, freeMicro, maySetAside, type Treasury } from './cover'
import { sumPromised } from './promise.store'

// Cover checks, in the transaction that stores the promise. A top-up must be covered on top of all
// existing promises; a debt only by the treasury as a whole.

/** Computes the free AUSD under a lock of all instances, held until the promise is committed. */
async function lockFree(tx: Tx, treasury: Treasury): Promise<bigint> {
  await lockNamed(tx, 'cover of top-ups')
  return freeMicro(treasury, await sumPromised(tx, treasury.readAt))
}

/** Returns true if the treasury covers `moreMicro` on top of all promises. */
export const isCovered = async (tx: Tx, treasury: Treasury, moreMicro: bigint): Promise<boolean> =>
  (await lockFree(tx, treasury)) >= moreMicro

/**
 * Checks that the treasury covers a top-up, and that its wallet's unpaid checkouts (`openMicro`
 * before it) set aside no more than their share.
 */
export async function coverTopup(
  tx: Tx,
  treasury: Treasury | undefined,
  wanted: { readonly ausdMicro: bigint; readonly openMicro: bigint },
): Promise<Answer<object>> {
  if (!treasury) return refuse('chain_unavailable')
  return maySetAside(await lockFree(tx, treasury), wanted) ? ok({}) : refuse('treasury_short')
}

/**
 * Refuses a settlement if one repayment may not move the debt, or if the treasury is known to be
 * unable to repay it.
 */
export function coverDebt(treasury: Treasury | undefined, debtMicro: bigint): Answer<object> {
  if (treasury && debtMicro > treasury.repayMaxMicro) return refuse('debt_too_large')
  return treasury && !canRepay(treasury, debtMicro) ? refuse('treasury_empty') : ok({})
}
