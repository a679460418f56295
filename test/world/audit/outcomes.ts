import type { Evidence, Ledger } from '../evidence'
import { endsOf } from '../fates'
import type { VerificationDeed } from '../record'
import { isPayment, moneyOf } from './payments'

/** Checks that each item which was played to its end has the outcome that its fate requires. */
export function auditOutcomes({ deeds, entries, book }: Evidence, ledger: Ledger): void {
  const ended = new Map(entries.map((entry) => [entry.id, entry]))
  for (const deed of deeds) {
    if (deed.refusedEvent) ledger.find(`${deed.answer?.id}: "${deed.fate}" cannot take place: ${deed.refusedEvent}`)
    if (!deed.isPlayed || !deed.answer) continue
    const { id } = deed.answer
    const { status, reason } = ended.get(id) ?? {}
    // The provider may have captured another amount than the user paid, which has rules of its own.
    if (isPayment(deed) && deed.plan.pays === 'in time' && moneyOf(id, book).capturedMinor !== deed.answer.fiatMinor)
      continue
    const ends = endsOf(deed.plan, deed)
    ledger.count('outcomes required')
    if (status !== undefined && !ends.includes(status))
      ledger.find(
        `${id} ended as ${status}${reason ? ` (${reason})` : ''}: "${deed.fate}" requires ${ends.join(' or ')}`,
      )
  }
}

/** Checks that each approved user is verified on the chain and got native coin once. */
export function auditVerifications({ deeds, chain }: Evidence, ledger: Ledger): void {
  for (const { wallet, plan, isPlayed } of deeds.filter(
    (one): one is VerificationDeed => one.kind === 'verification',
  )) {
    if (!isPlayed) continue
    ledger.count('users verified')
    if (!chain.verified.has(wallet)) ledger.find(`${wallet} was approved and is not verified on the chain`)
    const got = chain.wei(wallet)
    if (got !== plan.dripWei) ledger.find(`${wallet} got ${got} wei instead of ${plan.dripWei}`)
  }
}
