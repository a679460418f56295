import type { TransactionSql } from 'postgres'
import type { LaneTransaction } from './lane'
import type { LostOperation } from './operations'
import { bookAs } from './posting'

// Postings are computed from the chain, independently of the relayer.

/** Also books coin that another user of the key sent. */
export function bookTransaction(tx: TransactionSql, transaction: LaneTransaction): Promise<void> {
  const { lane, nonce, to, valueWei, paidWei, reverted, deeds } = transaction
  const sentWei = reverted || to === lane ? 0n : valueWei
  return bookAs(tx, 'chain_relayer', `${lane}:${nonce}`, [
    { account: 'lanes', asset: 'MON', amount: -paidWei - sentWei },
    { account: 'gas', asset: 'MON', amount: paidWei },
    { account: deeds ? 'drips' : 'suspense', asset: 'MON', amount: sentWei },
  ])
}

export function bookGiveback(tx: TransactionSql, { cause, payload }: LostOperation): Promise<void> {
  const ausdMicro = BigInt(payload.ausd as string)
  return bookAs(tx, 'chain_relayer', cause, [
    { account: 'suspense', asset: 'AUSD', amount: ausdMicro },
    { account: 'treasury', asset: 'AUSD', amount: -ausdMicro },
  ])
}
