import { lockNamed } from '#platform/db/lock'
import type { Tx } from '#platform/db/open'
import type { Balance } from './balance'
import { sumUnpaid } from './promise.store'

/**
 * Returns true if the provider's balance covers a cash-out on top of all unpaid ones. Computed under
 * a lock of all instances, held until the transaction stores the cash-out.
 */
export async function isCovered(tx: Tx, balance: Balance, fiatMinor: bigint): Promise<boolean> {
  await lockNamed(tx, 'cover of cash-outs')
  return (await sumUnpaid(tx, balance.readAt)) + fiatMinor <= balance.minor
}
