import { lockNamed } from '#platform/db/lock'
import type { Tx } from '#platform/db/open'
import type { Balance } from './balance'
import { sumPromisedFiat } from './promise.store'

/** Locks out other instances until the transaction has stored the cash-out. */
export async function mayReserve(tx: Tx, balance: Balance, fiatMinor: bigint): Promise<boolean> {
  // guard: rupiah are promised one at a time across all instances
  await lockNamed(tx, 'cover of cash-outs')
  // guard: no cash-out is accepted that the provider's balance does not cover
  return (await sumPromisedFiat(tx, balance.readAt)) + fiatMinor <= balance.minor
}
