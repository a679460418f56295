import type { TransactionSql } from 'postgres'
import type { LaneTransaction } from './lane'
import type { LostOperation } from './operations'
import { postAs } from './posting'

// Postings are computed from the chain, independently of the relayer.

/** Books the cost of a transaction, and also coin that another user of the key sent. */
export function postTransaction(tx: TransactionSql, transaction: LaneTransaction): Promise<void> {
  const { lane, nonce, to, valueWei, paidWei, reverted, actions } = transaction
  const sentWei = reverted || to === lane ? 0n : valueWei
  return postAs(tx, 'chain_relayer', `${lane}:${nonce}`, [
    { account: 'lanes', asset: 'MON', amount: -paidWei - sentWei },
    { account: 'gas', asset: 'MON', amount: paidWei },
    { account: actions ? 'drips' : 'suspense', asset: 'MON', amount: sentWei },
  ])
}

export function postGiveback(tx: TransactionSql, { cause, payload }: LostOperation): Promise<void> {
  const ausdMicro = BigInt(payload.ausd as string)
  return postAs(tx, 'chain_relayer', cause, [
    { account: 'suspense', asset: 'AUSD', amount: ausdMicro },
    { account: 'treasury', asset: 'AUSD', amount: -ausdMicro },
  ])
}
