import { lockNamed } from '#platform/db/lock'
import type { Tx } from '#platform/db/open'
import type { Balance } from './balance'
import { sumUnpaid } from './promise.store'

/** Locks out other instances until the transaction has stored the cash-out. */
export async function isCovered(tx: Tx, balance: Balance, fiatMinor: bigint): Promise<boolean> {
  await lockNamed(tx, 'cover of cash-outs')
  return (await sumUnpaid(tx, balance.readAt)) + fiatMinor <= balance.minor
}
