import type { TransactionSql } from 'postgres'
import { type Line, position } from '#shared/ledger/position'
import type { LaneTransaction } from './lane'
import type { LostOperation } from './operations'

// Postings are computed from the chain, independently of the relayer.

const event = 'put back'

/** Also books coin that another user of the key sent. */
export function bookTransaction(tx: TransactionSql, transaction: LaneTransaction): Promise<void> {
  const { lane, nonce, to, valueWei, paidWei, reverted, deeds } = transaction
  const sentWei = reverted || to === lane ? 0n : valueWei
  return post(tx, `${lane}:${nonce}`, [
    { account: 'lanes', asset: 'MON', amount: -paidWei - sentWei },
    { account: 'gas', asset: 'MON', amount: paidWei },
    { account: deeds ? 'drips' : 'suspense', asset: 'MON', amount: sentWei },
  ])
}

export function bookGiveback(tx: TransactionSql, { cause, payload }: LostOperation): Promise<void> {
  const ausdMicro = BigInt(payload.ausd as string)
  return post(tx, cause, [
    { account: 'suspense', asset: 'AUSD', amount: ausdMicro },
    { account: 'treasury', asset: 'AUSD', amount: -ausdMicro },
  ])
}

async function post(tx: TransactionSql, item: string, lines: readonly Line[]): Promise<void> {
  const rows = position(lines).map(({ amount, ...line }) => ({ ...line, amount: `${amount}` }))
  if (rows.length === 0) return
  const posting = `${item}/${crypto.randomUUID()}`
  await tx`insert into chain_relayer.journal
    ${tx(rows.map((row, line) => ({ posting, line, event, item, ...row })))}`
}
