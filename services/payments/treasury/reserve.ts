import { lockNamed } from '#platform/db/lock'
import type { Tx } from '#platform/db/open'
import { type Answer, ok, refuse } from '#shared/refusals'
import { canRepay, freeMicro, maySetAside, type TreasuryCover } from './cover'
import { sumPromised } from './promise.store'

/**
 * Returns the free AUSD (10⁻⁶). The lock keeps other instances from promising until the transaction has
 * committed.
 */
export async function lockFree(tx: Tx, treasury: TreasuryCover): Promise<bigint> {
  // guard: top-ups are promised one at a time across all instances
  lockNamed(tx, 'cover of top-ups')
  return freeMicro(treasury, await sumPromised(tx, treasury.readAt))
}

export const mayReserve = async (tx: Tx, treasury: TreasuryCover, moreMicro: bigint): Promise<boolean> =>
  (await lockFree(tx, treasury)) >= moreMicro

/**
 * Refuses a top-up that the free AUSD (10⁻⁶) does not cover, or that exceeds the share of its wallet's unpaid checkouts
 * (`openMicro`).
 */
export function coverTopup(
  freeMicro: bigint | undefined,
  wanted: { readonly ausdMicro: bigint; readonly openMicro: bigint },
): Answer<object> {
  if (freeMicro === undefined) return refuse('chain_unavailable')
  // guard: no top-up is accepted that the treasury does not cover
  return maySetAside(freeMicro, wanted) ? ok({}) : refuse('treasury_short')
}

/** Refuses a debt that the treasury cannot repay. Refuses nothing if the treasury is unknown. */
export function coverDebt(treasury: TreasuryCover | undefined, debtMicro: bigint): Answer<object> {
  if (treasury && debtMicro > treasury.repayMaxMicro) return refuse('debt_too_large')
  return treasury && !canRepay(treasury, debtMicro) ? refuse('treasury_empty') : ok({})
}
