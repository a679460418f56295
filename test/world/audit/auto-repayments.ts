import type { Evidence, Ledger } from '../evidence'
import { sum } from './payments'

/**
 * Checks that what users let be repaid automatically was repaid once, and that each repayment is an item of the activity
 * with its amount.
 */
export function auditAutoRepayments({ deeds, chain, entries }: Evidence, ledger: Ledger): void {
  const items = entries.filter(({ kind }) => kind === 'autorepay')
  for (const { id, status, wallet } of items)
    if (status === 'repaying') ledger.find(`${id} of ${wallet} has not completed: ${status}`)
  const marked = items.filter(({ status }) => status === 'repaid')
  for (const { id, txHash } of marked)
    if (chain.autoRepaid.every(({ hash }) => hash !== txHash)) ledger.find(`${id} is marked repaid and is not`)
  for (const { wallet, micro, hash } of chain.autoRepaid) {
    const own = marked.filter((one) => one.txHash === hash)
    ledger.count('automatic repayments')
    if (own.length !== 1) ledger.find(`${micro} of ${wallet} was repaid in ${hash}, which ${own.length} items name`)
    for (const { id, ausd } of own)
      if (ausd !== String(micro)) ledger.find(`${id} repaid ${micro} and is listed with ${ausd}`)
  }
  // These users repay nothing themselves.
  for (const wallet of new Set(deeds.flatMap((one) => (one.kind === 'autorepay' ? [one.wallet] : [])))) {
    const [drawn, repaid] = [chain.drawn, chain.autoRepaid].map((all) =>
      sum(all.filter((one) => one.wallet === wallet).map(({ micro }) => micro)),
    )
    if (repaid !== drawn) ledger.find(`${wallet} let ${drawn} be repaid automatically, and ${repaid} was`)
  }
}
