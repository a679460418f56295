import { lockNamed } from '#platform/db/lock'
import type { Tx } from '#platform/db/open'
import type { Balance } from './balance'
import { sumPromisedFiat } from './promise.store'

/**
 * Returns true if the balance covers the cash-out in addition to all promises. The lock keeps other instances
 * from promising until the transaction has committed.
 */
export async function mayReserve(tx: Tx, balance: Balance, fiatMinor: bigint): Promise<boolean> {
  // guard: rupiah are promised one at a time across all instances
  lockNamed(tx, 'cover of cash-outs')
  // guard: no cash-out is accepted that the provider's balance does not cover
  return (await sumPromisedFiat(tx, balance.readAt)) + fiatMinor <= balance.minor
}
